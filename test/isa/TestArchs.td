//===- TestArchs.td - An architecture for tests only ----------------------===//
//
// The table that builds with tests are made from. The row shares no size with a chip, so that a number which someone
// took from elsewhere does not fit: compiling for it fails, or what runs overruns a memory of the simulator. It has one
// engine less: MTE2 moves in both directions between global and local memory.
//
//===----------------------------------------------------------------------===//

include "pto_mlir/ISA/ISA.td"

def T7 : Arch<"t7", 2, [
  MemorySize<UB, 131072, 32>, MemorySize<L1, 262144, 32>, MemorySize<L0A, 32768, 512>, MemorySize<L0B, 32768, 512>,
  MemorySize<L0C, 65536, 512>, MemorySize<BT, 512, 32>, MemorySize<FB, 1024, 32>,
  MemorySize<SA, 0, 16>, MemorySize<SB, 0, 16>]> {
  let rules = "a3";
  let scratchBegin = 126976;
  let scratchBytes = 4096;
  let blocks = 7;
  let leftLayout = NZ;
  let eventIds = 7;
  let missing = [CarriedEngine<PIPE_MTE3, PIPE_MTE2>];
  let testOnly = 1;
}

// Timing parameters as on a3.
def ChipT7 : Chip<T7> {
  let clock = ChipA3.clock;
  let launchSeconds = ChipA3.launchSeconds;
  let crossSeconds = ChipA3.crossSeconds;
  let l2BytesPerSecond = ChipA3.l2BytesPerSecond;
  let hbmBytesPerSecond = ChipA3.hbmBytesPerSecond;
  let l2Bytes = ChipA3.l2Bytes;
  let lineBytes = ChipA3.lineBytes;
  let toUB = ChipA3.toUB;
  let toL1 = ChipA3.toL1;
  let fromUB = ChipA3.fromUB;
  let fromL1 = ChipA3.fromL1;
  let fromL0C = ChipA3.fromL0C;
  let extractFactor = ChipA3.extractFactor;
}

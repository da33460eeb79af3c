//===- Archs.td - Parameters of the architectures -------------------------===//

#ifndef PTO_MLIR_ISA_ARCHS
#define PTO_MLIR_ISA_ARCHS

include "pto_mlir/ISA/ISABase.td"

def A3 : Arch<"a3", 0, [
  MemorySize<UB, 196608, 32>, MemorySize<L1, 524288, 32>, MemorySize<L0A, 65536, 512>, MemorySize<L0B, 65536, 512>,
  MemorySize<L0C, 131072, 512>, MemorySize<BT, 1024, 32>, MemorySize<FB, 2048, 32>,
  MemorySize<SA, 0, 16>, MemorySize<SB, 0, 16>]> {
  let scratchBegin = 188416;
  let scratchBytes = 8192;
  // The public assembler also plans scale buffers, although this architecture has no memory and no products for them.
  let assemblerMemories = [MemorySize<UB, 196608, 32>, MemorySize<BT, 65536, 32>, MemorySize<FB, 196608, 32>,
                           MemorySize<SA, 196608, 32>, MemorySize<SB, 196608, 32>];
  let blocks = 24;
  let leftLayout = ZZ;
  let features = [DistinctReciprocal];
}

def A5 : Arch<"a5", 1, [
  MemorySize<UB, 262144, 32>, MemorySize<L1, 524288, 32>, MemorySize<L0A, 65536, 512>, MemorySize<L0B, 65536, 512>,
  MemorySize<L0C, 262144, 512>, MemorySize<BT, 4096, 32>, MemorySize<FB, 4096, 32>,
  MemorySize<SA, 4096, 16>, MemorySize<SB, 4096, 16>]> {
  let scratchBegin = 262144;
  let scratchBytes = 0;
  let assemblerMemories = [MemorySize<UB, 253952, 32>, MemorySize<BT, 65536, 32>, MemorySize<FB, 253952, 32>];
  let blocks = 32;
  let leftLayout = NZ;
  let features = [LaneFlags, DirectTiles, VectorScatter, ColumnMajorOperands, MoreTypes, ScaledProducts, FreeTransfers,
                  NoExpandScratch, AddedOps];
}

#endif

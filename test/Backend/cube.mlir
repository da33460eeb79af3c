// RUN: pto-opt %s --pto-print-commands -o /dev/null | FileCheck %s

// CHECK-LABEL: kernel @conv: 3 arguments, 0 events, L1 6272, L0A 6144, L0B 2560, L0C 4096, BT 128
!IMG = !pto.tile_buf<mat, 64x32xf16, blayout=col_major, slayout=row_major>
!W = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!ROW = !pto.tile_buf<mat, 1x32xf32>
!L = !pto.tile_buf<left, 32x64xf16, slayout=row_major>
!L2 = !pto.tile_buf<left, 32x32xf16, slayout=row_major>
!R = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!B = !pto.tile_buf<bias, 1x32xf32>
module {
  module @conv attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // CHECK: AIC MTE2:
    // CHECK-NEXT: tload L1[0]<64x32xf16 nz>, arg0[0]<64x32xf16 strides=32,1>, space=L1
    func.func @mte2(%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %y: !pto.ptr<f16>) attributes {pto.pipe = #pto.pipe<PIPE_MTE2>} {
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : index
      %a0 = arith.constant 0 : i64
      %v = pto.make_tensor_view %x, shape = [%c1, %c64, %c32], strides = [%c32, %c32, %c1] : !pto.tensor_view<1x64x32xf16>
      %p = pto.partition_view %v, offsets = [%c0, %c0, %c0], sizes = [%c1, %c64, %c32] : !pto.tensor_view<1x64x32xf16> -> !pto.partition_tensor_view<1x64x32xf16>
      %t = pto.alloc_tile addr = %a0 : !IMG
      pto.tload ins(%p : !pto.partition_tensor_view<1x64x32xf16>) outs(%t : !IMG)
      return
    }
    // CHECK: AIC MTE1:
    // CHECK-NEXT: timg2col L0A[0]<32x64xf16 zz>, L1[0]<64x32xf16 nz>, posM=16, posK=0, height=8, padTop=1, padBottom=0, width=8 channels=20, kernelH=3 kernelW=2 strideH=2 strideW=1, dilationH=1 dilationW=2 padLeft=3 padRight=4
    // CHECK-NEXT: textract_l0b L0B[512]<32x32xf16 zn>, L1[4096]<32x32xf16 nz>, row=0, col=0
    // CHECK-NEXT: textract_l0a L0A[4096]<32x32xf16 zz>, L1[4096]<32x32xf16 nz>, row=0, col=0
    // CHECK-NEXT: tmov_bt BT[0]<1x32xf32>, L1[6144]<1x32xf32>, col=0
    func.func @mte1(%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %y: !pto.ptr<f16>) attributes {pto.pipe = #pto.pipe<PIPE_MTE1>} {
      %c16 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %a0 = arith.constant 0 : i64
      %a512 = arith.constant 512 : i64
      %a4096 = arith.constant 4096 : i64
      %a6144 = arith.constant 6144 : i64
      %img = pto.alloc_tile addr = %a0 : !IMG
      %w1 = pto.alloc_tile addr = %a4096 : !W
      %row = pto.alloc_tile addr = %a6144 : !ROW
      %l = pto.alloc_tile addr = %a0 : !L
      %l2 = pto.alloc_tile addr = %a4096 : !L2
      %r = pto.alloc_tile addr = %a512 : !R
      %b = pto.alloc_tile addr = %a0 : !B
      pto.timg2col ins(%img, %c16, %c0 : !IMG, index, index) outs(%l : !L) {kernel = [3, 2], strides = [2, 1], dilations = [1, 2], pads = [1, 3, 0, 4], image = [8, 8], channels = 20}
      pto.tmov ins(%w1 : !W) outs(%r : !R)
      pto.textract ins(%w1, %c0, %c0 : !W, index, index) outs(%l2 : !L2)
      pto.tmov ins(%row : !ROW) outs(%b : !B)
      return
    }
    // CHECK: AIC M:
    // CHECK-NEXT: tmatmul_bias L0C[0]<32x32xf32 nz16>, L0A[4096]<32x32xf16 zz>, L0B[512]<32x32xf16 zn>, BT[0]<1x32xf32>
    // CHECK-NEXT: tmatmul_acc L0C[0]<32x32xf32 nz16>, L0C[0]<32x32xf32 nz16>, L0A[4096]<32x32xf16 zz>, L0B[512]<32x32xf16 zn>
    // CHECK-NEXT: tmatmul L0C[0]<32x32xf32 nz16>, L0A[4096]<32x32xf16 zz>, L0B[512]<32x32xf16 zn>
    func.func @m(%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %y: !pto.ptr<f16>) attributes {pto.pipe = #pto.pipe<PIPE_M>} {
      %a0 = arith.constant 0 : i64
      %a512 = arith.constant 512 : i64
      %a4096 = arith.constant 4096 : i64
      %l2 = pto.alloc_tile addr = %a4096 : !L2
      %r = pto.alloc_tile addr = %a512 : !R
      %b = pto.alloc_tile addr = %a0 : !B
      %c = pto.alloc_tile addr = %a0 : !A
      pto.tmatmul.bias ins(%l2, %r, %b : !L2, !R, !B) outs(%c : !A)
      pto.tmatmul.acc ins(%c, %l2, %r : !A, !L2, !R) outs(%c : !A)
      pto.tmatmul ins(%l2, %r : !L2, !R) outs(%c : !A)
      return
    }
    // CHECK: AIC FIX:
    // CHECK-NEXT: tstore_acc arg2[128]<32x32xf16 strides=32,1>, L0C[0]<32x32xf32 nz16>, relu=relu atomic=none
    func.func @fix(%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %y: !pto.ptr<f16>) attributes {pto.pipe = #pto.pipe<PIPE_FIX>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %a0 = arith.constant 0 : i64
      %y2 = pto.addptr %y, %c64 : !pto.ptr<f16> -> !pto.ptr<f16>
      %v = pto.make_tensor_view %y2, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf16>
      %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<32x32xf16> -> !pto.partition_tensor_view<32x32xf16>
      %c = pto.alloc_tile addr = %a0 : !A
      pto.tstore ins(%c : !A) outs(%p : !pto.partition_tensor_view<32x32xf16>) {reluPreMode = #pto<relu_pre_mode normal_relu>}
      return
    }
  }
}

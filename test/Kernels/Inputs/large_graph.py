"""Prints @main with N elementwise linalg ops; each reads the previous result and one of the twenty before it."""

import random
import sys

count = int(sys.argv[1])
random.seed(1)
print("#id = affine_map<(d0, d1) -> (d0, d1)>")
print("func.func @main(%v0: tensor<1x64xf32>) -> tensor<1x64xf32> {")
print("  %e = tensor.empty() : tensor<1x64xf32>")
for i in range(1, count + 1):
    other = max(0, i - 1 - random.randrange(20))
    operation = "arith.addf" if i % 2 else "arith.maximumf"
    print(
        f'  %v{i} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}}'
        f" ins(%v{i - 1}, %v{other} : tensor<1x64xf32>, tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) {{\n"
        f"  ^bb0(%a: f32, %b: f32, %o: f32):\n    %r = {operation} %a, %b : f32\n    linalg.yield %r : f32\n"
        "  } -> tensor<1x64xf32>"
    )
print(f"  return %v{count} : tensor<1x64xf32>\n}}")

"""A program of two functions as text, of which one calls the other: `PROGRAM.format(DOUBLE + MAIN.format("x"))`."""

PROGRAM = """
@pl.program
class P:
{}
"""
DOUBLE = """    @pl.function
    def double(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        return pl.mul(x, 2.0)
"""
MAIN = """    @pl.function
    def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        return self.double({})
"""

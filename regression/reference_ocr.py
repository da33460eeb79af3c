"""What PP-OCR's own package reads: `reference_ocr.py PICTURE..` prints a JSON list of lists of lines. Runs in an environment of its own."""

import json
import logging
import sys


def main():
    logging.disable(logging.CRITICAL)
    from rapidocr_onnxruntime import RapidOCR

    reader = RapidOCR()
    print(json.dumps([[line[1] for line in reader(path)[0] or []] for path in sys.argv[1:]]))


if __name__ == "__main__":
    main()

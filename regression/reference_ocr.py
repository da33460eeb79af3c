"""What PP-OCR's own package reads: `reference_ocr.py PICTURE..` prints a JSON list of lists of lines. Runs in an
environment of its own."""

import json
import logging
import sys


def main():
    logging.disable(logging.CRITICAL)
    from rapidocr_onnxruntime import RapidOCR

    reader = RapidOCR(det_limit_side_len=640)  # pictures of 640 x 640 stay as they are
    print(json.dumps([[line[1] for line in reader(path)[0] or []] for path in sys.argv[1:]]))


if __name__ == "__main__":
    main()

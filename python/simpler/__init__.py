"""What hand-written dispatches of PyPTO's public runtime import, over our workers: `simpler.worker.Worker` and
`simpler.task_interface`. It lies beside `pypto`, on no path by itself; nothing else of that package is here."""

"""The commands; each module has a `main` that is a console entry of the package."""

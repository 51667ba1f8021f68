"""`python -m canonry` is the command `canonry`."""

from canonry.cli import main

if __name__ == "__main__":
    main()

"""`make bench`: all measurements, printed as tables."""

from benchmarks import costs, eager, native, targets

if __name__ == "__main__":
    targets.main()
    print()
    costs.main()
    print()
    eager.main()
    print()
    native.main()

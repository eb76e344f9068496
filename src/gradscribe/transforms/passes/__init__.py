"""IR in, IR out, of the same meaning (what each leaves out besides is said by itself)."""

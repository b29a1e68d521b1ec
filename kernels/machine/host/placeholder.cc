namespace mailbench {}

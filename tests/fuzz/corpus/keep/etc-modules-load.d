# see wiki/peermem

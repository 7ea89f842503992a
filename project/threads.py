"""One thread for each process, where as many processes run as there are cores.

The arrays are small: threads would wait for one another, ten times as long if others work.
"""

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",  # of PyTorch and of BLAS
    "NPROC": "1",  # of the programs that JAX compiles
}

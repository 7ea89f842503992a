"""The sandbox of a submission's kernel: what it can see, call and use.

``bubblewrap``   limits what it can see; ``syscalls`` filters what it can call;
``provisioner``  starts the kernel, or has it forked from the ``zygote`` process, which
                 ``warm`` controls from outside;
``supervisor``   watches the resources that the kernel uses;
``kernel``       exchanges messages with it, and trusts nothing that it sends.
"""

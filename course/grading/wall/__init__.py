"""The wall around the kernel of a submission: what it can see, ask and use.

``sandbox``      what is in there; ``syscalls`` what it cannot ask of the system;
``provisioner``  starts the kernel behind it, or has it forked: ``template`` is the process
                 that it is forked from, ``warm`` that process seen from out here;
``supervisor``   watches what the kernel uses;
``kernel``       talks with it, and believes nothing that it says.
"""

"""Reports: all files that people and programs get when a class has been graded.

``roster``   holds the class as rows and columns, for all other modules;
``sheets``   writes the grade sheets, ``feedback`` and ``report`` the pages, ``marking`` the page
             and the table for answers in words, ``entered`` what somebody has entered there,
             ``versions`` which texts were marked; ``pages`` is what the pages share;
``items``    computes statistics of tasks and questions;
``unnamed``  finds students with the same wrong numbers, and drafts misconceptions;
``stopped``  lists code that a limit stopped, and what to do about it;
``late``     deducts points from late notebooks;
``similar``  finds notebooks with passages in common;
``outcome``  writes all of these at once;
``difference`` and ``gradebook`` compare and merge what earlier runs have written.
"""

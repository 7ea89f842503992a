"""Everything that people and programs are given when a class has been graded.

``roster``     the class as rows and columns, for everything that follows;
``sheets``   the grade sheets, ``feedback`` and ``report`` the pages, ``marking`` the answers
             in words and ``questions`` what was asked; ``pages`` what the pages share;
``outcome``  all of these in one go.
"""

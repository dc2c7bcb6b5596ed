"""Is memory given back without harm?"""

from whence.models.giving_back import clean_code, give_memory_back

SMAPS = """\
7f00-7f10 r-xp 00000000 fe:00 123  /usr/lib/libclean.so
Rss:                  64 kB
Anonymous:             0 kB
7f20-7f30 r-xp 00000000 fe:00 124  /usr/lib/libpatched.so
Anonymous:             4 kB
7f40-7f50 r--p 00000000 fe:00 125  /usr/lib/librelro.so
Anonymous:             0 kB
7f60-7f70 r-xp 00000000 00:00 0  [vdso]
Anonymous:             0 kB
"""


def test_only_unchanged_code_of_files_is_let_go():
    assert clean_code(SMAPS) == [(0x7F00, 0x10)]


def test_the_program_goes_on_after_memory_was_given_back():
    give_memory_back()
    assert sum(range(10)) == 45

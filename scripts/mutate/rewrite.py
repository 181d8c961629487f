#!/usr/bin/env python3
"""Puts changes of arithmetic (mutant.h) into C++ files, in place, and lists them.

    rewrite.py FIRST FILE...

Every binary operator, compound assignment, minus sign and number within a function gets a change,
numbered from FIRST. One line a change goes to stdout: number, function and text, between tabs, where
the text is the line of code with the changed token in braces. Left out are heads of for loops,
constant expressions, indices, last template arguments, values of named fields, negative numbers (their sign is changed
instead), and statements with texts or configuration keys: messages are no arithmetic.
"""

import re
import sys

IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
LABEL = re.compile(r'\bcase (?:\w|::)+:')
NO_ARITHMETIC = re.compile(
    r'"|\b(constexpr|static_assert|template|throw|TY_CHECK)\b|\bfields\.|^\s*#', re.MULTILINE)
BINARY = r'(?<= )(?:<<|>>|<=|>=|==|!=|[-+*/%<>&|^])(?=[ \n])'
ASSIGNMENT = r'(?<= )[-+*/]=(?=[ \n])'
MINUS = r'(?<=[ (\[{,])-(?=[\w(])'
NUMBER = r'(?<![-\w.\[<])\d+(?:\.\d*)?(?:e[-+]?\d+)?[fuUl]*(?![\w.\'>])'
UNTOUCHED = {'arity', 'declare'}  # what the YAML may say: judged by other tests than the family's
NAMED = re.compile(r'\.\w+ = $')
SITE = re.compile(f'(?P<binary>{BINARY})|(?P<assignment>{ASSIGNMENT})|(?P<minus>{MINUS})'
                  f'|(?P<number>{NUMBER})')


def blank(match):
    """Spaces of the same length; a text keeps its quotes."""
    text = re.sub(r'[^\n]', ' ', match.group())
    return f'"{text[1:-1]}"' if match.group()[0] == '"' else text


def closing(text, start):
    """The place of the bracket that closes the one at start."""
    depth = 0
    for at in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def code_of(text):
    """The text without comments and heads of loops and labels, places unchanged."""
    code = LABEL.sub(blank, IGNORED.sub(blank, text))
    for head in list(re.finditer(r'\bfor \(', code)):
        end = closing(code, head.end() - 1)
        code = code[:head.start()] + re.sub(r'[^\n]', ' ', code[head.start():end]) + code[end:]
    return code


def functions(code):
    """(begin, end, name) of each function, from behind its parameters to its last bracket."""
    scopes, found = [], []
    head = 0
    for at, character in enumerate(code):
        if character not in '{};':
            continue
        before = code[head:at]
        head = at + 1
        if character == '{':
            inside = any(kind == 'function' for kind, _, _ in scopes)
            name = re.search(r'(operator\(\)|operator\S+?|[\w~]+)\(', before)
            # Without a closing bracket it begins a default argument.
            if inside or not name or ')' not in before or '=' in before[:name.start()]:
                record = re.search(r'\b(?:struct|class) (\w+)(?: final)?\s*(?::[^:].*)?$', before)
                scopes.append(('scope', record.group(1) if record else '', at))
            else:
                scopes.append(('function', name.group(1), at - len(before) + before.index(')')))
        elif character == '}' and scopes:
            kind, name, begin = scopes.pop()
            if kind == 'function' and name not in UNTOUCHED:
                records = [scope for _, scope, _ in scopes if scope]
                found.append((begin, at, '::'.join(records[-1:] + [name])))
    return found


def sites(code):
    """Matches of SITE within functions, in order, each with its function's name and begin."""
    for begin, end, name in sorted(functions(code)):
        for statement in re.finditer(r'[^;{}]+', code[begin:end]):
            if NO_ARITHMETIC.search(statement.group()):
                continue
            limit = begin + statement.end()
            for match in SITE.finditer(code, begin + statement.start(), limit):
                if not (match.lastgroup == 'number' and NAMED.search(code, begin, match.start())):
                    yield match, name, begin


def changed(match, number):
    token, mutant = match.group(), f'mutant({number})'
    return {'binary': f'{token} {mutant} {token}', 'assignment': f'{token} {mutant} {token}',
            'minus': f'{mutant}->*', 'number': f'{mutant}({token})'}[match.lastgroup]


def rewrite(path, number):
    """Rewrites one file; gives the next free number."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    out, done = [], 0
    for match, name, begin in sites(code_of(text)):
        first, last = match.span()
        line_begin = text.rfind('\n', 0, first) + 1
        line_end = text.find('\n', last)
        marked = text[line_begin:first] + '{' + match.group() + '}' + text[last:line_end]
        print(number, f'{path}:{begin}', f'{path} {name}: {marked.strip()}', sep='\t')
        out += [text[done:first], changed(match, number)]
        done = last
        number += 1
    with open(path, 'w', encoding='utf-8') as file:
        file.write(''.join(out) + text[done:])
    return number


def main():
    number = int(sys.argv[1])
    for path in sys.argv[2:]:
        number = rewrite(path, number)


main()

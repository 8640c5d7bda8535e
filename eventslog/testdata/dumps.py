# Writes dumps.json: pieces of lines, and what the reference writes of lines that hold them.
import hashlib, json, re

PIECES = [
    r'"plain text, \"quoted\"\n and \\ so on"', r'"\u0041\/\u00e9\u000a\u007f"', r'"\ud83d\ude00\uD83D\uDE00"', r'"\ud800 alone \udfff"',
    '1e5', '1E+2', '-0.0', '-0', '1.10', '0.1e-7', '123456789012345678901234567890', '1e400', '-1e400', 'NaN', '5e-324', '0.30000000000000004',
    '{"a": 1, "b": 2, "a": {"c" : [ ] , "c":3}}', '{"\\u0061":1,"a":2}', '[1,2 ,\t3]', '{ }', '"wörter, 言葉 😀 \u2028\x7f"', '[true,false , null]',
    '{"session_id": "inner", "parent_session_id":0}', '[' * 40 + ']' * 40,
]

def dumps(value):
    text = json.dumps(value, ensure_ascii=False)
    return re.sub('[\ud800-\udfff]', lambda m: '\\u%04x' % ord(m[0]), text)  # which the reference cannot store

def line(size, pieces):
    head = '{"session_id": "old", "ts" : "2026-01-01T00:00:00Z", "session_id": "new\\u0065r", "data": ['
    tail = '"],"event":"e", "ts": "2026-01-01T00:00:01Z" }'
    body, n, room = [], 0, size - len((head + tail).encode()) - len('"')
    for i in range(1 << 30):
        piece = pieces[i % len(pieces)] + ','
        n += len(piece.encode())
        if n > room:
            return head + ''.join(body) + '"' + 'x' * (room - n + len(piece.encode())) + tail
        body.append(piece)

def renamed(text):
    event = json.loads(text)
    former, event['session_id'] = event['session_id'], 'fork'
    event['parent_session_id'] = former
    return dumps(event).encode() + b'\n'

lines = []
for size in [100 << 10, (128 << 10) - 1, 128 << 10, (128 << 10) + 1, 256 << 10, 1 << 20, 20 << 20]:
    for n in [-1] if size >= 1 << 20 else range(-1, len(PIECES)):  # -1: all pieces
        text = line(size, PIECES if n < 0 else [PIECES[n]])
        assert len(text.encode()) == size
        lines.append({'size': size, 'piece': n, 'sha256': hashlib.sha256(renamed(text)).hexdigest()})
with open('dumps.json', 'w') as f:
    print(json.dumps({'pieces': PIECES, 'lines': lines}).replace(', {', ',\n{'), file=f)

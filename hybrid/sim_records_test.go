package hybrid

import (
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// turn returns the lines of a turn, some with a call that nobody answered.
func (w *world) turn() (msgs []sessionstore.Message) {
	add := func(format string, args ...any) {
		mark := w.reader.mark()
		switch n := w.rand.IntN(500); {
		case n < 20:
			mark += w.noise(40 << 10)
		case n < 22:
			mark += w.noise(600 << 10) // chunks
		case n < 25:
			mark += w.noise(2200 << 10) // more than one request
		}
		if w.rand.IntN(3) == 0 {
			mark += w.secret()
		}
		m, err := sessionstore.ParseMessage(fmt.Appendf(nil, format, append([]any{mark}, args...)...))
		require.NoError(w.t, err)
		msgs = append(msgs, m)
	}
	add(`{"role": "user", "content": "%s"}`)
	for i := range w.rand.IntN(3) {
		if w.rand.IntN(3) > 0 {
			add(`{"role": "assistant", "content": "%s"}`)
			continue
		}
		call := fmt.Sprint("call-", w.rand.Uint32(), "-", i)
		add(`{"role": "assistant", "content": "%s", "tool_calls": [{"id": "%s", "name": "bash", "arguments": {}}]}`, call)
		if w.rand.IntN(3) > 0 {
			add(`{"role": "tool", "content": "%s", "tool_call_id": "%s", "name": "bash"}`, call)
		}
	}
	return msgs
}

// ack takes note of what a write acknowledged.
func (w *world) ack(d *gadget, id string, msgs []sessionstore.Message, err error) {
	w.t.Helper()
	w.expected(d, err)
	if err != nil {
		return
	}
	if *simVerbose {
		for _, m := range msgs {
			w.t.Log(d.name, id, simRecord.FindString(string(m.AppendTo(nil))))
		}
	}
	for _, m := range msgs {
		line := m.AppendTo(nil)
		w.note(d, id, sessiondir.Transcript, simRecord.FindString(string(line)))
		w.owns(d, id, sessiondir.Transcript, line)
	}
}

// note takes note of a record that a write acknowledged.
func (w *world) note(d *gadget, id, kind, mark string) {
	rec := &ackedRecord{id, d, kind}
	if w.stays(d, id) {
		w.hidden[mark] = rec
		return
	}
	w.acked[mark] = rec
}

// losing does what may take records from a session on purpose. Those that the
// cloud has not are nobody's any more; the others must stay reachable.
func (w *world) losing(d *gadget, id string, do func()) {
	before := w.here(d, id)
	do()
	after := w.here(d, id)
	stored := w.reader.reachable()
	for text := range before {
		if !after[text] && !stored[text] {
			w.withdrawn[text] = true
		}
	}
}

// here returns the records in a session's files on a device.
func (w *world) here(d *gadget, id string) map[string]bool {
	all := map[string]bool{}
	for _, name := range sessiondir.Files {
		maps.Copy(all, marksIn([]byte(w.file(d, id, name))))
	}
	return all
}

// letters returns text as tokens have it.
func (w *world) letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[w.rand.IntN(62)]
	}
	return string(b)
}

// noise returns text that a compressor hardly makes shorter. It has spaces, so
// that it never looks like a key by chance.
func (w *world) noise(n int) string {
	b := make([]byte, n*3/4)
	for i := range b {
		b[i] = byte(w.rand.Uint32())
	}
	text := []byte(base64.StdEncoding.EncodeToString(b))
	for i := 0; i < len(text); i += 16 {
		text[i] = ' '
	}
	return string(text)
}

func marksIn(data []byte) map[string]bool {
	found := map[string]bool{}
	for _, m := range simRecord.FindAll(data, -1) {
		found[string(m)] = true
	}
	return found
}

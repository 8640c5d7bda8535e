package slice

import (
	"context"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ResumeWindow returns the [Window] of a stored session: the last turns, at most
// maxTurns of them, and more where a result would be separated from its call.
// It reads the rest of a large transcript only where that may hold the call of
// a result, see [sessionstore.Store.LastTurns]. A result whose call is nowhere
// costs reading the whole transcript.
//
// The window is what a model is given. What comes after it goes into the session by
// [sessionstore.Store.Append]: a Save of the window would drop all turns before it,
// and is refused with [sessionstore.ErrWindow].
//
// The errors are those of LastTurns and of
// [sessionstore.Store.Load].
//
// The example Resume of package slice/accept shows how an agent goes on with a
// session.
func ResumeWindow(ctx context.Context, st *sessionstore.Store, id string, maxTurns int) ([]sessionstore.Message, error) {
	if maxTurns <= 0 {
		return nil, nil
	}
	const most = 1 << 30 // more than any transcript has
	for n := min(maxTurns, most) + 1; ; n *= 2 {
		msgs, err := st.LastTurns(ctx, id, n)
		if err != nil {
			return Window(msgs, maxTurns), err
		}
		if CountTurns(msgs) < n {
			break
		}
		if !lacksCalls(msgs) {
			return Window(msgs, maxTurns), nil
		}
	}
	s, err := st.Load(ctx, id)
	if s == nil {
		return nil, err
	}
	return Window(s.Messages, maxTurns), err
}

// lacksCalls reports whether a message answers a call that no message before it
// makes.
func lacksCalls(msgs []sessionstore.Message) bool {
	made := map[string]bool{}
	for _, m := range msgs {
		r := readRow(m)
		for _, k := range r.Results() {
			if !made[k.ID] {
				return true
			}
		}
		for _, k := range r.Calls() {
			if k.Named {
				made[k.ID] = true
			}
		}
	}
	return false
}

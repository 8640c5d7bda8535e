package slice

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ResumeWindow returns the [Window] of a stored session: the last turns, at most
// maxTurns of them, and more where a result would be separated from its call.
// It reads the rest of a large transcript only where that may hold the call of
// a result, see [sessionstore.Store.View]. A result whose call is nowhere
// costs reading the whole transcript.
//
// The window is the input for a model. The messages after it go into the session by
// [sessionstore.Store.Append]: a Save of the window would drop all turns before it, and is
// refused with [sessionstore.ErrWindow].
//
// It returns the errors of [sessionstore.Store.View]. When the transcript is damaged, it
// also returns the window of the readable messages.
//
// The example Resume of package slice/accept shows how an agent goes on with a
// session.
func ResumeWindow(ctx context.Context, st *sessionstore.Store, id string, maxTurns int) (window []sessionstore.Message, err error) {
	if maxTurns <= 0 {
		return nil, nil
	}
	v, damage := st.View(ctx, id)
	if v == nil {
		return nil, damage
	}
	defer func() { err = errors.Join(err, v.Close(), damage) }()
	var msgs []sessionstore.Message
	for n := maxTurns; n < v.Turns(); n *= 2 { // one turn more than are asked for, in which a call may be
		first, err := v.Start(ctx, v.Turns()-n)
		if err != nil {
			return nil, err
		}
		if msgs, err = v.Range(ctx, first, v.Len()); err != nil {
			return Window(msgs, maxTurns), err
		}
		if !hasUncalledResults(msgs) {
			return Window(msgs, maxTurns), nil
		}
	}
	msgs, err = v.Range(ctx, 1, v.Len())
	return Window(msgs, maxTurns), err
}

// hasUncalledResults reports whether a message answers a call that no message before it
// makes.
func hasUncalledResults(msgs []sessionstore.Message) bool {
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

package web

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// beside limits the messages before a part of a long transcript, and the messages behind
// it, that are read with it, so that a call is shown with its result.
const beside = 64

// rows returns the messages from index from to before index to, as they are shown.
func (r *readings) rows(ctx context.Context, shot *snapshot, from, to int, lim conversation.Limits) ([]shownMessage, error) {
	from = min(from, shot.total)
	to = min(max(to, from), shot.total)
	if shot.view != nil {
		return shown(shot.view.Messages(from, to, lim)), nil
	}
	if from == to {
		return shown(nil), nil
	}
	view, first, turn, err := r.around(ctx, from, to)
	if err != nil {
		return nil, err
	}
	all := view.Messages(from-first, to-first, lim)
	answered := shot.total // calls before this message can have no later result
	if starts := view.Starts(); first+view.Len() < shot.total {
		answered = first
		if len(starts) > 0 {
			answered += starts[len(starts)-1]
		}
	}
	for i := range all {
		renumber(&all[i], first, turn, answered)
	}
	return shown(all), nil
}

// around returns the view of a part of a long transcript, the index of its first
// message, and the number of turns that begin before that. Messages beside the part are
// read with it as long as the part has a result without its call, or a call without its
// result.
func (r *readings) around(ctx context.Context, from, to int) (view *conversation.View, first, turns int, err error) {
	v, err := r.view(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	var msgs []sessionstore.Message
	first, last := from, from
	begin, end := from, to // the range of the view
	for reach := 4; ; reach *= 4 {
		if end > last {
			more, err := part(ctx, v, last, end)
			if err != nil {
				return nil, 0, 0, err
			}
			msgs, last = append(msgs, more...), end
		}
		if begin < first {
			more, err := part(ctx, v, begin, first)
			if err != nil {
				return nil, 0, 0, err
			}
			msgs, first = append(more, msgs...), begin
		}
		if view, err = conversation.New(msgs); err != nil {
			return nil, 0, 0, err
		}
		before, behind := lacks(view, from-first, to-first)
		if before {
			begin = max(0, from-reach)
		}
		if behind {
			end = min(v.Len(), to+reach)
		}
		if reach > beside || begin == first && end == last {
			break
		}
	}
	if len(msgs) > 0 {
		if turns, err = v.TurnAt(ctx, first+1); err != nil {
			return nil, 0, 0, err
		}
	}
	if starts := view.Starts(); len(starts) > 0 && starts[0] == 0 {
		turns--
	}
	return view, first, turns, nil
}

// view opens the transcript. It returns an error for a damaged one.
func (r *readings) view(ctx context.Context) (*sessionstore.View, error) {
	v, err := r.store.View(ctx, r.id)
	if err != nil && v != nil {
		err = errors.Join(err, v.Close())
	}
	return v, err
}

// part reads the messages from index from to before index to, which must exist.
func part(ctx context.Context, v *sessionstore.View, from, to int) ([]sessionstore.Message, error) {
	rows, err := v.Range(ctx, from+1, to-from)
	if err == nil && len(rows) < to-from {
		err = sessionstore.ErrConflict // the transcript has become shorter
	}
	return rows, err
}

// lacks reports whether messages have results without a call, whose calls may come
// before, and calls without a result, whose results may come behind.
func lacks(view *conversation.View, from, to int) (before, behind bool) {
	for _, m := range view.Messages(from, to, conversation.Limits{Text: 1, Tool: 1}) {
		before = before || len(m.Results) > 0
		for _, c := range m.Calls {
			behind = behind || c.Orphan
		}
	}
	return before, behind
}

// renumber turns the numbers of a message in a view of a part into the numbers in the
// whole transcript. A call from message answered on is no orphan: its result may be
// behind the part.
func renumber(m *conversation.Message, first, turns, answered int) {
	m.N += first
	m.Turn += turns
	move := func(files []conversation.File) {
		for i := range files {
			files[i].N += first
		}
	}
	move(m.Files)
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Orphan = c.Orphan && m.N < answered
		if c.Result != nil {
			c.Result.N += first
			move(c.Result.Files)
		}
	}
	for i := range m.Results {
		m.Results[i].N += first
		move(m.Results[i].Files)
	}
}

// message returns message n, which must exist.
func (r *readings) message(ctx context.Context, shot *snapshot, n int) (sessionstore.Message, error) {
	if shot.view != nil {
		return shot.msgs[n], nil
	}
	v, err := r.view(ctx)
	if err != nil {
		return sessionstore.Message{}, err
	}
	rows, err := part(ctx, v, n, n+1)
	if err = errors.Join(err, v.Close()); err != nil {
		return sessionstore.Message{}, err
	}
	return rows[0], nil
}

// start returns the index of the message that begins a turn.
func (r *readings) start(ctx context.Context, shot *snapshot, turn int) (int, error) {
	if turn < 1 || turn > shot.turns {
		return 0, sessionstore.ErrNotFound
	}
	if shot.view != nil {
		return shot.view.Starts()[turn-1], nil
	}
	v, err := r.view(ctx)
	if err != nil {
		return 0, err
	}
	first, err := v.Start(ctx, turn)
	return first - 1, errors.Join(err, v.Close())
}

// changedSince returns the index of the first message that is shown in another way than
// it was while there were only the first n messages.
func (r *readings) changedSince(ctx context.Context, shot *snapshot, n int) (int, error) {
	n = min(n, shot.total)
	if shot.view != nil {
		return shot.view.ChangedSince(n), nil
	}
	if n == shot.total {
		return n, nil
	}
	view, first, _, err := r.around(ctx, n, min(n+maxTold, shot.total))
	if err != nil {
		return 0, err
	}
	return first + view.ChangedSince(n-first), nil
}

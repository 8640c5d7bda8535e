package sessionstore

import "context"

// Part is a run of messages of a transcript, as the tests ask for it.
type Part struct {
	First    int
	Turn     int
	Messages []Message
	Total    int
	Turns    int
}

// viewing runs read on a view of a session. The error is joined with the damage.
func viewing(st *Store, ctx context.Context, id string, read func(*View) error) error {
	v, damage := st.View(ctx, id)
	if v == nil {
		return damage
	}
	return joinErrors(joinErrors(read(v), v.Close()), damage)
}

// TurnOf returns the messages of a turn.
func TurnOf(st *Store, ctx context.Context, id string, n int) (rows []Message, err error) {
	err = viewing(st, ctx, id, func(v *View) (err error) {
		rows, err = v.Turn(ctx, n)
		return err
	})
	return rows, err
}

// LastTurnsOf returns the messages of the last n turns.
func LastTurnsOf(st *Store, ctx context.Context, id string, n int) (rows []Message, err error) {
	err = viewing(st, ctx, id, func(v *View) error {
		if v.Turns() == 0 {
			return nil
		}
		first, err := v.Start(ctx, max(1, v.Turns()-n+1))
		if err == nil {
			rows, err = v.Range(ctx, first, v.Len())
		}
		return err
	})
	return rows, err
}

// MessageOf returns message n.
func MessageOf(st *Store, ctx context.Context, id string, n int) (m Message, err error) {
	err = viewing(st, ctx, id, func(v *View) error {
		rows, err := v.Range(ctx, max(n, 1), 1)
		if err == nil && (n < 1 || len(rows) == 0) {
			_, err = v.TurnAt(ctx, n)
		}
		if err == nil {
			m = rows[0]
		}
		return err
	})
	return m, err
}

// PartOf returns n messages from message first on.
func PartOf(st *Store, ctx context.Context, id string, first, n int) (p Part, err error) {
	err = viewing(st, ctx, id, func(v *View) (err error) {
		p = Part{First: first, Total: v.Len(), Turns: v.Turns()}
		if p.Messages, err = v.Range(ctx, first, n); err == nil && len(p.Messages) > 0 {
			p.Turn, err = v.TurnAt(ctx, first)
		}
		return err
	})
	return p, err
}

// PartFromTurnOf returns n messages from the beginning of a turn on.
func PartFromTurnOf(st *Store, ctx context.Context, id string, turn, n int) (p Part, err error) {
	err = viewing(st, ctx, id, func(v *View) (err error) {
		p = Part{Total: v.Len(), Turns: v.Turns()}
		if p.First, err = v.Start(ctx, turn); err != nil {
			return err
		}
		if p.Messages, err = v.Range(ctx, p.First, n); len(p.Messages) > 0 {
			p.Turn = turn
		}
		return err
	})
	return p, err
}

// CursorOf returns the place behind the first n messages.
func CursorOf(st *Store, ctx context.Context, id string, n int) (c Cursor, err error) {
	err = viewing(st, ctx, id, func(v *View) (err error) {
		c, err = v.Cursor(ctx, n)
		return err
	})
	return c, err
}

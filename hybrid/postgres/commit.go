package postgres

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// stamps are the values of tx, begun and stored. The order in CASE is certain: the time of
// an object is read when its transaction has a number.
const stamps = `pg_current_xact_id(), now(), CASE WHEN pg_current_xact_id() IS NOT NULL THEN clock_timestamp() END`

// renewed sets the columns of an object that is stored again.
const renewed = ` SET label = EXCLUDED.label, body = EXCLUDED.body, version = EXCLUDED.version, tx = EXCLUDED.tx, begun = EXCLUDED.begun, stored = EXCLUDED.stored`

// Commit implements [remote.Remote]. Objects within the batch of [Remote.Info] are stored
// together with the swap or not at all; of more, the others are stored before.
func (r *Remote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := remote.CheckSizes(objects, swap); err != nil {
		return "", err
	}
	rest := slices.Clone(objects)
	slices.SortFunc(rest, func(a, b remote.Object) int { return strings.Compare(a.Name, b.Name) }) // two commits lock rows in one order
	rest = slices.CompactFunc(rest, func(a, b remote.Object) bool { return a.Name == b.Name })     // a statement changes a row once
	room := batch
	if swap != nil {
		room.Objects--
		room.Bytes -= swap.Size()
	}
	for {
		n := fit(rest, room)
		if n == len(rest) {
			break
		}
		n = max(1, fit(rest, batch))
		if err := r.store(ctx, part, rest[:n]); err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	if swap == nil {
		return "", r.store(ctx, part, rest)
	}
	return r.swap(ctx, part, rest, swap)
}

// fit returns the number of the first objects that have room.
func fit(objects []remote.Object, room remote.Batch) int {
	for i := range objects {
		if room.Objects--; room.Objects < 0 {
			return i
		}
		if room.Bytes -= objects[i].Size(); room.Bytes < 0 {
			return i
		}
	}
	return len(objects)
}

// insert writes a statement that stores objects under a condition.
func (r *Remote) insert(s *statement, part string, objects []remote.Object, condition string) {
	s.text.WriteString(`INSERT INTO ` + r.table + ` (part, name, label, body, version, tx, begun, stored) SELECT ` + part + `, v.*, ` + stamps + ` FROM (VALUES `)
	for i := range objects {
		o := &objects[i]
		if i > 0 {
			s.text.WriteString(`, `)
		}
		s.text.WriteString(`(` + s.param(o.Name) + `, ` + s.bytes(o.Label) + `, ` + s.bytes(o.Body) + `, ` + s.param(rand.Text()) + `)`)
	}
	s.text.WriteString(`) v (name, label, body, version)` + condition + ` ON CONFLICT (part, name) DO `)
}

// store stores objects.
func (r *Remote) store(ctx context.Context, part string, objects []remote.Object) error {
	if len(objects) == 0 {
		return nil
	}
	var s statement
	s.text.WriteString(`WITH stored AS (`)
	r.insert(&s, s.param(part), objects, "")
	s.text.WriteString(`UPDATE` + renewed + `) SELECT ` + r.times() + `, ` + durable)
	return r.do(ctx, &s, false, func(c [][]byte) error { r.note(micros(c[0]), micros(c[1])); return nil })
}

// swap replaces an object, and stores and removes others with it.
func (r *Remote) swap(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	var s statement
	of, version := s.param(part), rand.Text()
	s.text.WriteString(`WITH swap AS (`)
	if swap.If == "" {
		s.text.WriteString(`INSERT INTO ` + r.table + ` (part, name, label, body, version, tx, begun, stored) VALUES (` + of + `, ` + s.param(swap.Name) + `, ` +
			s.bytes(swap.Label) + `, ` + s.bytes(swap.Body) + `, ` + s.param(version) + `, ` + stamps + `) ON CONFLICT (part, name) DO NOTHING RETURNING 1)`)
	} else {
		s.text.WriteString(`UPDATE ` + r.table + ` SET label = ` + s.bytes(swap.Label) + `, body = ` + s.bytes(swap.Body) + `, version = ` + s.param(version) +
			`, (tx, begun, stored) = ROW (` + stamps + `) WHERE part = ` + of + ` AND name = ` + s.param(swap.Name) + ` AND version = ` + s.param(string(swap.If)) + ` RETURNING 1)`)
	}
	if len(objects) > 0 {
		s.text.WriteString(`, stored AS (`)
		r.insert(&s, of, objects, ` WHERE EXISTS (SELECT FROM swap)`)
		s.text.WriteString(`UPDATE` + renewed + `)`)
	}
	if len(swap.Remove) > 0 {
		s.text.WriteString(`, removed AS (DELETE FROM ` + r.table + ` WHERE part = ` + of + ` AND name = ANY (string_to_array(` + s.param(strings.Join(swap.Remove, " ")) +
			`, ' ')) AND EXISTS (SELECT FROM swap))`)
	}
	s.text.WriteString(` SELECT ` + r.times() + `, ` + durable + `, (SELECT count(*) FROM swap)::text`)
	err := r.do(ctx, &s, true, func(c [][]byte) error {
		if r.note(micros(c[0]), micros(c[1])); string(c[3]) != "1" {
			return remote.ErrChanged
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return remote.Version(version), nil
}

// Delete implements [remote.Remote]. It is one request.
func (r *Remote) Delete(ctx context.Context, part string, names []string) error {
	if len(names) == 0 {
		return ctx.Err()
	}
	var s statement
	s.text.WriteString(`WITH removed AS (DELETE FROM ` + r.table + ` WHERE part = ` + s.param(part) + ` AND name = ANY (string_to_array(` + s.param(strings.Join(names, " ")) +
		`, ' '))) SELECT ` + r.times() + `, ` + durable)
	return r.do(ctx, &s, false, func(c [][]byte) error { r.note(micros(c[0]), micros(c[1])); return nil })
}

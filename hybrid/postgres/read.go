package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// columns are the columns of an object without its body. A label that is too large is NULL.
var columns = fmt.Sprintf(`name, CASE WHEN octet_length(label) <= %d THEN label END, version, `, remote.MaxLabel) + microseconds("stored")

// Get implements [remote.Remote].
func (r *Remote) Get(ctx context.Context, part, name string, known remote.Version) (o remote.Object, err error) {
	var s statement
	of, is := s.param(part), s.param(name)
	s.text.WriteString(`SELECT ` + columns + `, ` + microseconds("now()") + `, octet_length(label)::text, octet_length(body)::text, CASE WHEN version <> ` + s.param(string(known)) +
		` AND octet_length(body) <= ` + strconv.Itoa(remote.MaxObject) + ` THEN body END FROM ` + r.table + ` WHERE part = ` + of + ` AND name = ` + is)
	found := false
	err = r.do(ctx, &s, false, func(c [][]byte) error {
		found = true
		r.note(micros(c[4]), time.Time{})
		if o = object(c); o.Version == known {
			return remote.ErrUnchanged
		}
		o.Body = bytes.Clone(c[7])
		return remote.TooLarge(number(c[5]), number(c[6]))
	})
	if err == nil && !found {
		err = remote.ErrNotExist
	}
	if err != nil {
		return remote.Object{}, err
	}
	return o, nil
}

// object decodes the columns of an object.
func object(c [][]byte) remote.Object {
	return remote.Object{Name: string(c[0]), Label: bytes.Clone(c[1]), Version: remote.Version(c[2]), Time: micros(c[3])}
}

// page is the largest number of objects of one answer.
const page = 500

// List implements [remote.Remote]. Each page of 500 objects is a request.
func (r *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		for after := q.After; ; {
			objects, err := r.page(ctx, part, after, &q)
			for i := range objects {
				if !yield(objects[i], nil) {
					return
				}
			}
			if err != nil {
				yield(remote.Object{}, err)
			}
			if err != nil || len(objects) < page {
				return
			}
			after = objects[len(objects)-1].Name
		}
	}
}

// page returns the next objects behind a name.
func (r *Remote) page(ctx context.Context, part, after string, q *remote.Query) (objects []remote.Object, _ error) {
	var s statement
	where := `part = ` + s.param(part) + ` AND name > ` + s.param(after)
	if q.Prefix != "" {
		where += ` AND name >= ` + s.param(q.Prefix) + ` AND name < ` + s.param(q.Prefix+"~") // no name has a '~'
	}
	if !q.Since.IsZero() {
		where += ` AND stored >= ` + s.param(q.Since.UTC().Format("2006-01-02T15:04:05.999999Z")) + `::timestamptz`
	}
	s.text.WriteString(`SELECT k.*, o.* FROM (SELECT ` + r.times() + `) k LEFT JOIN (SELECT ` + columns + ` FROM ` + r.table +
		` WHERE ` + where + ` ORDER BY name LIMIT 500) o ON true ORDER BY o.name`)
	err := r.do(ctx, &s, false, func(c [][]byte) error {
		if r.note(micros(c[0]), micros(c[1])); c[2] != nil {
			objects = append(objects, object(c[2:]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return objects, nil
}

package opencode

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// rows reads the rows of a database.
type rows struct {
	ctx context.Context
	db  *sql.DB
}

// needed are the columns that are read, by their tables.
var needed = map[string][]string{
	"session": {"id", "parent_id", "directory", "title", "version", "revert", "time_created", "time_updated"},
	"message": {"id", "session_id", "time_created", "time_updated", "data"},
	"part":    {"id", "message_id", "session_id", "time_updated", "data"},
}

// newest is the newest migration of the version that is proven, and coming are tables of a form
// to come, which were empty in it.
const newest = "20260622202450_simplify_session_input"

var coming = []string{"session_message", "session_input", "session_context_epoch"}

// maxRow is how long the data of a row may be that is read, in bytes.
const maxRow = thread.MaxLine

// each calls take for each row that a query answers. take scans it.
func (r rows) each(take func(scan func(...any) error) error, query string, args ...any) error {
	all, err := r.db.QueryContext(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer all.Close()
	for all.Next() {
		if err := take(all.Scan); err != nil {
			return err
		}
	}
	return all.Err()
}

// texts returns the texts that a query answers.
func (r rows) texts(query string, args ...any) (all []string, err error) {
	err = r.each(func(scan func(...any) error) error {
		all = append(all, "")
		return scan(&all[len(all)-1])
	}, query, args...)
	return all, err
}

// columns returns the names of the columns of a table, none where that is not there, or a view,
// which may have no end.
func (r rows) columns(table string) ([]string, error) {
	return r.texts("SELECT name FROM pragma_table_info(?1) WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)", table)
}

// check returns an error for a database without a table or a column that is needed.
func (r rows) check() error {
	for _, table := range []string{"session", "message", "part"} {
		has, err := r.columns(table)
		if err != nil {
			return err
		}
		for _, column := range needed[table] {
			if !slices.Contains(has, column) {
				return fmt.Errorf("it is no database of opencode 1.2 to 1.18, or of a version that is not known: table %s has no column %s", table, column)
			}
		}
	}
	return nil
}

// row is a session as its row says.
type row struct {
	id, parent, dir, title, version, revert string
	created, updated                        int64  // in ms; updated is of all its rows
	size                                    int64  // of the data of its messages and parts
	facts                                   string // which differ where one of its rows changed
	begin                                   uint64 // see rows.begins
}

// when is the expression for a time in ms, which is 0 where a column has none before the year 10000:
// neither Go nor Python writes other ones as JSON.
func when(column string) string {
	return fmt.Sprintf("iif(typeof(%[1]s) = 'integer' AND %[1]s BETWEEN 0 AND 253402300799999, %[1]s, 0)", column)
}

// short is the expression for a text of at most 4,096 bytes: empty where a column has a longer one, or none.
func short(column string) string {
	return fmt.Sprintf("iif(octet_length(%[1]s) <= 4096, %[1]s, '')", column)
}

// sessions returns the ids of the sessions, in the order in which they began. A row with an id that
// opencode does not make is left out.
func (r rows) sessions() ([]string, error) {
	all, err := r.texts("SELECT id FROM session WHERE typeof(id) = 'text' AND octet_length(id) <= 4096 ORDER BY time_created, id")
	return slices.DeleteFunc(all, func(id string) bool { return !ids.MatchString(id) }), err // the id names a file
}

// session returns the row of a session, none where it is not there.
func (r rows) session(id string) (one []row, err error) {
	err = r.each(func(scan func(...any) error) error {
		s, counted := row{}, [2]string{}
		err := scan(&s.id, &s.parent, &s.dir, &s.title, &s.version, &s.revert, &s.created, &s.updated, &counted[0], &counted[1])
		s.facts = fmt.Sprintf("%q %d %s %s", []string{s.parent, s.dir, s.title, s.version, s.revert}, s.updated, counted[0], counted[1])
		for _, counts := range counted {
			var n, size, updated int64
			_, _ = fmt.Sscan(counts, &n, &size, &updated)
			s.updated, s.size = max(s.updated, updated), s.size+size
		}
		one = append(one, s)
		return err
	}, `SELECT id, `+short("parent_id")+`, `+short("directory")+`, coalesce(substr(title, 1, 1000), ''), `+short("version")+`, coalesce(substr(revert, 1, 1000000), ''),
		`+when("time_created")+`, `+when("time_updated")+`, `+counts("message")+`, `+counts("part")+` FROM session WHERE id = ?`, id)
	return one, err
}

// counts is the expression for the number of rows that a session has in a table, the size of their data, which it
// does not read, and their newest time.
func counts(table string) string {
	return "(SELECT count(*) || ' ' || coalesce(sum(octet_length(data)), 0) || ' ' || coalesce(max(" + when("time_updated") + "), 0) FROM " + table + " WHERE session_id = session.id)"
}

// begins returns what the first two messages of a session say, and their times. A fork has
// copies of them under new ids. It is 0 where there are fewer.
func (r rows) begins(id string) (sum uint64, err error) {
	n := 0
	err = r.each(func(scan func(...any) error) error {
		var at int64
		var data []byte
		err := scan(&n, &at, &data)
		sum = sum*31 + thread.Content(data) + uint64(at)
		return err
	}, `SELECT m.n, `+when("m.time_created")+`, p.data FROM (SELECT id, time_created, row_number() OVER (ORDER BY time_created, id) n FROM message WHERE session_id = ? AND octet_length(id) <= 4096 ORDER BY time_created, id LIMIT 2) m
		JOIN part p ON p.message_id = m.id WHERE octet_length(p.data) < 1048576 AND octet_length(p.id) <= 4096 ORDER BY m.n, p.id`, id)
	if n < 2 {
		return 0, err
	}
	return max(1, sum), err
}

// data is the expression for the data of a row, which is NULL where it is too long. As a blob, the driver copies it once.
var data = fmt.Sprintf("CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END", maxRow)

// lines writes the lines of a session as of one moment. Where that takes long, it is several
// transactions, and the error Is errChanging if the session went on in between.
func (r rows) lines(id string, out io.Writer) error {
	began := time.Now()
	if err := r.check(); err != nil {
		return err
	}
	if _, err := r.db.ExecContext(r.ctx, "BEGIN"); err != nil {
		return err
	}
	was, err := r.session(id)
	if err == nil && len(was) == 0 {
		err = fmt.Errorf("it has no session %q", id)
	}
	if err != nil {
		return err
	}
	s, w := was[0], lineWriter{bufio.NewWriterSize(out, 64<<10)}
	w.line("type", "session", "id", s.id, "time", s.created, "directory", s.dir, "version", s.version, "parent", s.parent)
	ids, err := r.texts("SELECT id FROM message WHERE session_id = ? AND typeof(id) = 'text' AND octet_length(id) <= 4096 ORDER BY time_created, id", id)
	fresh := unsettled(began, time.UnixMilli(s.updated)) // its facts may not tell of a change
	for _, id := range ids {
		if err == nil && time.Since(began) > time.Second/2 {
			if fresh {
				return errChanging
			}
			began = time.Now()
			_, err = r.db.ExecContext(r.ctx, "COMMIT; BEGIN")
		}
		if err == nil {
			err = r.message(id, w)
		}
	}
	if m := thread.Members([]byte(s.revert), "messageID", "partID"); s.revert != "" {
		w.line("type", "revert", "message", thread.Text(m[0]), "part", thread.Text(m[1]))
	}
	if err == nil {
		err = r.notes(id, w)
	}
	now, failed := r.session(id)
	if err = cmp.Or(err, w.Flush(), failed); err == nil && (len(now) == 0 || now[0].facts != s.facts) {
		err = errChanging
	}
	return err
}

// message writes the line of a message with its parts, and the lines of the results of its calls.
func (r rows) message(id string, w lineWriter) error {
	var at int64
	var raw []byte
	err := r.db.QueryRowContext(r.ctx, "SELECT "+when("time_created")+", "+data+" FROM message WHERE id = ?", id).Scan(&at, &raw)
	if err != nil {
		return err
	}
	w.open("type", "message", "id", id, "time", at)
	if json.Valid(raw) && pyjson.KindOf(thread.Members(raw, "summary")[0]) == pyjson.Object { // of what the prompt changed, which comes later
		raw = pyjson.Remove(raw, "summary")
	}
	w.member("data", raw)
	_, _ = w.WriteString(`, "parts": [`)
	sep, calls := "", false
	err = r.parts(id, func(part string, raw []byte) {
		_, _ = w.WriteString(sep)
		sep = ", "
		if isCall(raw) {
			calls = true
			raw = change(raw, "state", func(state []byte) []byte {
				if input, ok := pyjson.Lookup(state, "input"); ok {
					return pyjson.Splice([]byte("{}"), "input", input)
				}
				return []byte("{}")
			})
			raw = change(raw, "metadata", func(md []byte) []byte { return pyjson.Remove(md, resultMember) })
		}
		w.open("id", part)
		w.member("data", raw)
		_, _ = w.WriteString("}")
	})
	_, _ = w.WriteString("]}\n")
	if err == nil && calls {
		err = r.parts(id, func(part string, raw []byte) { w.result(part, raw) })
	}
	return err
}

// isCall reports whether the data of a part are a call.
func isCall(raw []byte) bool { return thread.Text(thread.Members(raw, "type")[0]) == "tool" }

// result writes the line of the result of a call that has one, without the note that opencode
// leaves the result out of later requests.
func (w lineWriter) result(part string, raw []byte) {
	m := thread.Members(raw, "callID", "state", "metadata")
	if s := thread.Text(thread.Members(m[1], "status")[0]); !isCall(raw) || s != "completed" && s != "error" {
		return
	}
	end, _ := pyjson.Int(thread.Members(thread.Members(m[1], "time")[0], "end")[0])
	w.open("type", "result", "id", part, "call", thread.Text(m[0]), "time", end)
	if mark := thread.Members(m[2], resultMember)[0]; mark != nil {
		w.member("metadata", pyjson.Splice([]byte("{}"), markMember, mark))
	}
	w.member("state", change(pyjson.Remove(m[1], "input"), "time", func(at []byte) []byte { return pyjson.Remove(at, "compacted") }))
	_, _ = w.WriteString("}\n")
}

// parts calls take for the parts of a message, whose data is valid until take returns.
func (r rows) parts(message string, take func(id string, raw []byte)) error {
	return r.each(func(scan func(...any) error) error {
		var id string
		var raw sql.RawBytes
		err := scan(&id, &raw)
		if !json.Valid(raw) {
			raw = []byte(`{"type": "damaged"}`)
		}
		take(id, raw)
		return err
	}, fmt.Sprintf(`SELECT coalesce(%s, ''), iif(octet_length(data) > %d, '{"type":"oversized"}', %s) FROM part WHERE message_id = ? ORDER BY id`, short("id"), maxRow, data), message)
}

// notes writes lines that name a newer form of the database.
func (r rows) notes(id string, w lineWriter) error {
	for _, table := range coming {
		has, err := r.columns(table)
		n := 0
		if err == nil && slices.Contains(has, "session_id") {
			err = r.db.QueryRowContext(r.ctx, "SELECT count(*) FROM "+table+" WHERE session_id = ?", id).Scan(&n)
		}
		if err != nil {
			return err
		}
		if n > 0 {
			w.line("type", table, "rows", int64(n))
		}
	}
	if has, err := r.columns("migration"); err != nil || !slices.Contains(has, "id") {
		return err
	}
	later, err := r.texts("SELECT substr(max(id), 1, 100) m FROM migration HAVING m > ?", newest)
	for _, name := range later {
		w.line("type", "migration", "name", name)
	}
	return err
}

// change replaces a member of an object, where it has one.
func change(raw []byte, name string, with func([]byte) []byte) []byte {
	if v, ok := pyjson.Lookup(raw, name); ok && pyjson.KindOf(v) == pyjson.Object {
		return pyjson.Splice(raw, name, with(v))
	}
	return raw
}

// lineWriter writes lines. Flush returns the first error of all.
type lineWriter struct{ *bufio.Writer }

// open writes the beginning of an object with members that are texts and numbers. Empty ones are
// left out.
func (w lineWriter) open(members ...any) {
	sep := "{"
	for i := 0; i < len(members); i += 2 {
		value := ""
		switch v := members[i+1].(type) {
		case int64:
			value = strconv.FormatInt(v, 10)
		case string:
			value = string(pyjson.AppendQuoted(nil, strings.ToValidUTF8(v, "\ufffd"), pyjson.Style{Replace: true}))
		}
		if value != "0" && value != `""` {
			_, _ = fmt.Fprintf(w, "%s%q: %s", sep, members[i], value)
			sep = ", "
		}
	}
}

// line writes a line with such members.
func (w lineWriter) line(members ...any) {
	w.open(members...)
	_, _ = w.WriteString("}\n")
}

// member writes a member of a JSON value, without spaces around its parts and without a copy of it; damaged JSON is
// null.
func (w lineWriter) member(name string, raw []byte) {
	if !json.Valid(raw) {
		raw = []byte("null")
	}
	_, _ = fmt.Fprintf(w, ", %q: ", name)
	begin, inText := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && c <= ' ':
			_, _ = w.Write(raw[begin:i])
			begin = i + 1
		}
	}
	_, _ = w.Write(raw[begin:])
}

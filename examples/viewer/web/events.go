package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const (
	maxEvents = 500       // rows in one answer
	maxShown  = 256 << 10 // bytes of an event in a page
)

// newer reports whether a request means the newer tools' log.
func (r *request) newer() (bool, error) {
	switch r.URL.Query().Get("log") {
	case "", "events":
		return false, nil
	case newerDir:
		return true, nil
	}
	return false, errRequest("log is neither events nor " + newerDir)
}

// events answers with the heads of a range of events.
func (s *Server) events(w http.ResponseWriter, r *request) error {
	newer, err := r.newer()
	if err != nil {
		return err
	}
	from, err := r.number("from", 0)
	if err != nil {
		return err
	}
	n, err := r.number("n", maxEvents)
	if err != nil {
		return err
	}
	lines, err := r.linesOf(newer)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	x, err := r.read().eventsOf(newer, eventview.Filter{Level: q.Get("level"), Name: q.Get("name"), Lines: lines})
	if err != nil {
		return err
	}
	page, err := x.Page(r.Context(), from, min(n, maxEvents))
	if err != nil {
		return err
	}
	return answer(w, page)
}

// event streams one event: its beginning, indented where it is short, or all
// of its bytes as a download.
func (s *Server) event(w http.ResponseWriter, r *request) error {
	newer, err := r.newer()
	if err != nil {
		return err
	}
	h, err := eventview.ParseAt(r.URL.Query().Get("at"))
	if err != nil {
		return errRequest(err.Error())
	}
	log, err := r.read().log(newer)
	if err != nil {
		return err
	}
	line, err := log.Open(r.Context(), h)
	if errors.Is(err, eventslog.ErrRewritten) {
		err = fmt.Errorf("%w: %w", sessionstore.ErrConflict, err)
	}
	if err != nil {
		return err
	}
	defer line.Close()
	header := w.Header()
	if r.URL.Query().Has("download") {
		header.Set("Content-Type", "application/octet-stream")
		header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="event-%d.json"`, h.Offset))
		header.Set("Content-Length", strconv.FormatInt(h.Size, 10))
		_, _ = io.Copy(w, line) // an answer that is too short shows the error
		return nil
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Event-Shown", strconv.FormatInt(min(h.Size, maxShown), 10))
	return showEvent(w, io.LimitReader(line, maxShown), h.Size <= maxShown)
}

// showEvent writes an event, indented when it is whole, valid JSON, and nested at most
// maxIndent deep.
func showEvent(w io.Writer, line io.Reader, whole bool) error {
	data, err := io.ReadAll(line)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if whole && depth(data) <= maxIndent && json.Indent(&out, data, "", "  ") == nil {
		data = out.Bytes()
	}
	_, _ = showBidi.WriteString(w, string(bytes.ToValidUTF8(data, []byte("\uFFFD")))) // the reader may be gone
	return nil
}

// maxIndent is how deep an event may be nested to be shown indented.
const maxIndent = 64

// depth returns how deep brackets are nested, and counts brackets in texts, too.
func depth(data []byte) (deepest int) {
	now := 0
	for _, c := range data {
		switch c {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/redact"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

// maxExports limits the exports at once. An export as Markdown or HTML holds its
// transcript in memory.
const maxExports = 4

// exportTypes are the media types of exports.
var exportTypes = map[archive.Format]string{
	archive.Markdown: "text/markdown; charset=utf-8",
	archive.HTML:     "text/html; charset=utf-8",
	archive.JSONL:    "application/jsonl",
	archive.Tar:      "application/x-tar",
}

// export answers with a session as a file in the format of the query; redact=1 takes
// secrets out, as the tool's export does. A damaged session is written as far as it can
// be read, and the name of the file says so; damaged records of a workflow are reported
// in the file. When the rest of a file cannot be written, the connection is closed, so
// that the browser takes the download for failed.
func (s *Server) export(w http.ResponseWriter, r *request) error {
	o, err := r.exportOptions()
	if err != nil {
		return err
	}
	damaged := false
	if o.Format != archive.Tar { // an archive has the files as they are
		shot, err := r.read().snapshot(r.Context())
		if err != nil {
			return err
		}
		damaged = shot.damage != nil
	}
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		return errBusy
	}
	h := w.Header()
	h.Set("Content-Type", exportTypes[o.Format])
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": exportName(r.id, o, damaged)}))
	if r.Method == http.MethodHead {
		return nil
	}
	return s.download(w, r.Request, func(w io.Writer) error {
		return archive.Write(r.Context(), w, r.at.store, []string{r.id}, o)
	})
}

// download answers with the file that write writes.
func (s *Server) download(w http.ResponseWriter, r *http.Request, write func(io.Writer) error) error {
	out := &startedWriter{w: w}
	err := write(out)
	switch {
	case err == nil:
	case !out.started:
		w.Header().Del("Content-Disposition")
		return err
	case errors.Is(err, sessionstore.ErrCorrupt): // what can be read was written
	default:
		if r.Context().Err() == nil {
			s.logger.Error("export failed", "path", r.URL.Path, "err", err)
		}
		panic(http.ErrAbortHandler) // so net/http closes the connection
	}
	return nil
}

// exportOptions reads the query.
func (r *request) exportOptions() (*archive.WriteOptions, error) {
	query := r.URL.Query()
	o := &archive.WriteOptions{Format: archive.Format(query.Get("format"))}
	if exportTypes[o.Format] == "" {
		return nil, errRequest("format is not md, html, jsonl or tar")
	}
	switch query.Get("redact") {
	case "":
	case "1":
		o.Redact = redact.Secrets().WithEnviron(os.Environ())
	default:
		return nil, errRequest("redact is not 1")
	}
	return o, nil
}

// exportName returns the name of a file, which every file system takes.
func exportName(id string, o *archive.WriteOptions, damaged bool) string {
	const longest = 100 // bytes of the id
	name := "session-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, id)
	name = name[:min(len(name), longest)]
	if o.Redact != nil {
		name += ".redacted"
	}
	if damaged {
		name += ".damaged"
	}
	return name + "." + string(o.Format)
}

// startedWriter knows whether an answer has begun.
type startedWriter struct {
	w       http.ResponseWriter
	started bool
}

func (s *startedWriter) Write(p []byte) (int, error) {
	s.started = s.started || len(p) > 0
	return s.w.Write(p)
}

package web

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

//go:embed assets pages
var embedded embed.FS

// Server answers requests for the sessions of its places.
type Server struct {
	places  *Places
	pages   *template.Template
	logger  *slog.Logger
	handler http.Handler

	resuming sync.Mutex    // held by a resume, which may read a large log whole
	streams  chan struct{} // holds a token for each open stream
}

// maxStreams is how many pages may be told of changes at once.
const maxStreams = 64

// New returns the server of the places, which listens at addr.
func New(places *Places, addr net.Addr, logger *slog.Logger) (*Server, error) {
	pages, err := template.New("").Funcs(functions).ParseFS(embedded, "pages/*.html")
	if err != nil {
		return nil, err
	}
	s := &Server{places: places, pages: pages, logger: logger, streams: make(chan struct{}, maxStreams)}
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(filesOnly{assets})))
	for pattern, handle := range s.routes() {
		mux.Handle(pattern, handle)
	}
	s.handler = newGuard(addr, mux)
	return s, nil
}

func (s *Server) routes() map[string]handler {
	const session, api = "/p/{project}/s/{session}", "/api/p/{project}/s/{session}"
	return map[string]handler{
		"GET /{$}":                          s.handle(s.projects),
		"GET /p/{project}":                  s.handle(s.list),
		"GET " + session:                    s.handle(s.session),
		"GET /api/p/{project}/stream":       s.handle(s.listStream),
		"GET " + api + "/health":            s.handle(s.health),
		"GET " + api + "/lineage":           s.handle(s.lineage),
		"GET " + api + "/phases":            s.handle(s.phases),
		"GET " + api + "/phases/{phase}":    s.handle(s.phase),
		"POST " + api + "/resume":           s.handle(s.resume),
		"GET " + api + "/messages":          s.handle(s.messages),
		"GET " + api + "/messages/{n}":      s.handle(s.message),
		"GET " + api + "/messages/{n}/line": s.handle(s.line),
		"GET " + api + "/events":            s.handle(s.events),
		"GET " + api + "/event":             s.handle(s.event),
		"GET " + api + "/stream":            s.handle(s.sessionStream),
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve serves l until ctx ends. Then it ends streams, closes connections on
// which nothing was asked yet, as browsers open them in advance, waits some
// seconds for the requests under way, and closes what is left.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	var unused sync.Map // by connection
	h.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			unused.Store(c, nil)
		} else {
			unused.Delete(c)
		}
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		unused.Range(func(c, _ any) bool {
			_ = c.(net.Conn).Close() // its other end may have done so
			return true
		})
		limit, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		err := h.Shutdown(limit)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close()
		}
		stopped <- err
	}()
	err := h.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	return errors.Join(err, <-stopped)
}

// filesOnly is a file system without listings of directories.
type filesOnly struct{ fs.FS }

func (f filesOnly) Open(name string) (fs.File, error) {
	if fi, err := fs.Stat(f.FS, name); err == nil && fi.IsDir() {
		return nil, fs.ErrNotExist
	}
	return f.FS.Open(name)
}

// request is a request with what its path names.
type request struct {
	*http.Request
	at *place
	id string // of a session that exists; "": the path names none
}

func (r *request) read() *readings { return r.at.cache.of(r.id) }

type handler struct {
	server *Server
	do     func(http.ResponseWriter, *request) error
}

// handle returns the handler that runs do. What do returns before it writes
// becomes the answer.
func (s *Server) handle(do func(http.ResponseWriter, *request) error) handler {
	return handler{s, do}
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &request{Request: r, id: r.PathValue("session")}
	err := h.find(req)
	if err == nil {
		err = h.do(w, req)
	}
	if err != nil && r.Context().Err() == nil {
		h.server.fail(w, r, err)
	}
}

// find looks up what the path names.
func (h handler) find(r *request) error {
	name := r.PathValue("project")
	if name == "" {
		return nil
	}
	at, err := h.server.places.place(r.Context(), name)
	if err != nil {
		return err
	}
	if r.at = at; r.id != "" && !at.store.Exists(r.id) {
		return noSession(r.id)
	}
	return nil
}

// noSession is the error for an id that no session has, with the text that a
// resume gives.
type noSession string

func (id noSession) Error() string {
	return "Session " + string(id) + " not found: " + fs.ErrNotExist.Error()
}
func (id noSession) Unwrap() error { return fs.ErrNotExist }

// errRequest is what is wrong with a request.
type errRequest string

func (e errRequest) Error() string { return string(e) }

func statusOf(err error) int {
	var bad errRequest
	switch {
	case errors.As(err, &bad):
		return http.StatusBadRequest
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, sessionstore.ErrConflict):
		return http.StatusConflict
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// fail answers with an error: a page, or JSON below /api/.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		s.logger.Error("request failed", "path", r.URL.Path, "err", err)
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeJSON(w, status, map[string]string{"error": err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	data := map[string]any{"Title": http.StatusText(status), "Error": err.Error()}
	_ = s.pages.ExecuteTemplate(w, "error.html", data) // the reader is gone
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the reader is gone
}

func answer(w http.ResponseWriter, v any) error {
	writeJSON(w, http.StatusOK, v)
	return nil
}

// pathOf returns the address of a project's page, or of a session's.
func pathOf(project, session string) string {
	path := "/p/" + url.PathEscape(project)
	if session != "" {
		path += "/s/" + url.PathEscape(session)
	}
	return path
}

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
)

//go:embed assets pages
var embedded embed.FS

// Options say what requests may do.
type Options struct {
	Token   string   // every request must have it, or the cookie of a browser that opened [Server.URL]; "": [New] makes one
	NoToken bool     // every user of the machine may read; what changes something needs the token all the same
	Open    bool     // [Server.Serve] starts the browser of the desktop
	Write   bool     // phase outputs, messages of conversations and forks are stored
	Resume  []string // command that a resume starts, with the id of the session as last argument; nil: none
	Host    string   // program that resumes sessions in a terminal; "": amplifier
}

// changes reports whether there are requests that change something.
func (o Options) changes() bool { return o.Write || len(o.Resume) > 0 }

// Server answers requests for the sessions of its places.
type Server struct {
	options Options
	places  *Places
	pages   *template.Template
	logger  *slog.Logger
	guard   *guard
	url     string

	reading  sync.Mutex    // held by a resume and by a fork, which may read a large session whole
	streams  chan struct{} // holds a token for each open stream
	commands commands
	searches chan struct{} // holds a token while a search, or a sum of usage, reads
	exports  chan struct{} // holds a token for each export
}

// maxStreams limits the pages that get changes at once.
const maxStreams = 64

// New returns the server of the places, which listens at addr.
func New(places *Places, addr net.Addr, logger *slog.Logger, o Options) (*Server, error) {
	pages, err := template.New("").Funcs(functions).ParseFS(embedded, "pages/*.html")
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, commands: commands{args: o.Resume, logger: logger}, places: places, pages: pages, logger: logger, streams: make(chan struct{}, maxStreams), searches: make(chan struct{}, 1), exports: make(chan struct{}, maxExports)}
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(filesOnly{assets})))
	for pattern, handle := range s.routes() {
		mux.Handle(pattern, handle)
	}
	s.guard = newGuard(addr, o, plainErrors{mux})
	s.url = "http://" + addr.String() + "/"
	if !o.NoToken || o.changes() {
		s.url += "?" + tokenQuery + "=" + s.guard.door.token
	}
	return s, nil
}

// URL returns the address that the user opens. It has the token, where one is needed.
func (s *Server) URL() string { return s.url }

func (s *Server) routes() map[string]handler {
	const session, api = "/p/{project}/s/{session}", "/api/p/{project}/s/{session}"
	return map[string]handler{
		"GET /{$}":                               s.handle(s.start),
		"GET /search":                            s.handle(s.search),
		"GET /usage":                             s.handle(s.usage),
		"GET /p/{project}":                       s.handle(s.list),
		"GET /p/{project}/usage":                 s.handle(s.usage),
		"GET /p/{project}/search":                s.handle(s.search),
		"GET " + session:                         s.handle(s.session),
		"GET " + session + "/hidden":             s.handle(s.hidden),
		"GET /api/p/{project}/stream":            s.handle(s.listStream),
		"GET " + api + "/health":                 s.handle(s.health),
		"GET " + api + "/lineage":                s.handle(s.lineage),
		"GET " + api + "/phases":                 s.handle(s.phases),
		"GET " + api + "/phases/{phase}":         s.handle(s.phase),
		"POST " + api + "/resume":                s.handle(s.resume),
		"GET " + api + "/messages":               s.handle(s.messages),
		"GET " + api + "/messages/{n}":           s.handle(s.message),
		"GET " + api + "/messages/{n}/line":      s.handle(s.line),
		"GET " + api + "/messages/{n}/files/{i}": s.handle(s.file),
		"GET " + api + "/export":                 s.handle(s.export),
		"POST " + api + "/fork":                  s.handle(s.fork),
		"POST " + api + "/phases":                s.handle(s.addPhase),
		"POST " + api + "/conversation":          s.handle(s.addMessage),
		"GET " + api + "/conversation":           s.handle(s.conversation),
		"GET " + api + "/decisions":              s.handle(s.decisions),
		"GET " + api + "/turns/{n}":              s.handle(s.turn),
		"GET " + api + "/find":                   s.handle(s.find),
		"GET " + api + "/events":                 s.handle(s.events),
		"GET " + api + "/event":                  s.handle(s.event),
		"GET " + api + "/event/message":          s.handle(s.eventMessage),
		"GET " + api + "/stream":                 s.handle(s.sessionStream),
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.guard.ServeHTTP(w, r) }

// Serve serves l until ctx ends. Then it ends streams, closes connections on
// which nothing was asked yet, as browsers open them in advance, waits some
// seconds for the requests under way, and closes the rest.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	h := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       withConnection,
		ConnState:         s.guard.connections.changed,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	var browser sync.WaitGroup
	if s.options.Open {
		browser.Go(func() {
			if err := browse(ctx, s.url, opener()); err != nil {
				s.logger.Error("the browser did not start", "err", err)
			}
		})
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		s.guard.connections.closeUnused()
		limit, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		err := h.Shutdown(limit)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close()
		}
		stopped <- err
	}()
	err := h.Serve(l)
	defer s.commands.close()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	browser.Wait()
	return errors.Join(err, <-stopped)
}

// plainErrors answers with JSON where the multiplexer finds nothing below /api/.
type plainErrors struct{ *http.ServeMux }

func (m plainErrors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h, pattern := m.Handler(r); pattern == "" && strings.HasPrefix(r.URL.Path, "/api/") {
		found := &statusOnly{header: w.Header(), status: http.StatusOK}
		h.ServeHTTP(found, r)
		writeJSON(w, found.status, failureText{http.StatusText(found.status), kinds[found.status]})
		return
	}
	m.ServeMux.ServeHTTP(w, r)
}

// statusOnly takes the status and the headers of an answer, and not its body.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }

// filesOnly is a file system without listings of directories.
type filesOnly struct{ fs.FS }

func (f filesOnly) Open(name string) (fs.File, error) {
	if fi, err := fs.Stat(f.FS, name); err == nil && fi.IsDir() {
		return nil, fs.ErrNotExist
	}
	return f.FS.Open(name)
}

// request is a request with the place and the session that its path names.
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

// handle returns the handler that runs do. An error that do returns before it writes
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

// find looks up the place and the session that the path names.
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

// fail answers with an error: a page, or JSON below /api/.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, kind := classify(err)
	if status == http.StatusInternalServerError {
		s.logger.Error("request failed", "path", r.URL.Path, "err", err)
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeJSON(w, status, failureText{err.Error(), kind})
		return
	}
	data := map[string]any{"Title": http.StatusText(status), "Error": err.Error()}
	var out strings.Builder
	_ = s.pages.ExecuteTemplate(&out, "error.html", data) // the page takes any text
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = showBidi.WriteString(w, out.String()) // the reader may be gone
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)                            // answers are made of texts and numbers, which JSON takes
	_, _ = showBidi.WriteString(w, out.String()) // the reader may be gone
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

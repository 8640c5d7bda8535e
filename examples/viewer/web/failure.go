package web

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// failure is an error with the status and the kind of its answer.
type failure struct {
	status int
	kind   string
	text   string
}

func (f *failure) Error() string { return f.text }

// errRequest is an error in a request.
type errRequest string

func (e errRequest) Error() string { return string(e) }

var errBusy = errors.New("server is busy")

// noSession is the error for an id that no session has, with the text that a
// resume gives.
type noSession string

func (id noSession) Error() string {
	return "Session " + string(id) + " not found: " + fs.ErrNotExist.Error()
}
func (id noSession) Unwrap() error { return fs.ErrNotExist }

// kinds are the words by which programs distinguish failures.
var kinds = map[int]string{
	http.StatusBadRequest:          "bad_request",
	http.StatusForbidden:           "other_origin",
	http.StatusNotFound:            "not_found",
	http.StatusMethodNotAllowed:    "method",
	http.StatusConflict:            "conflict",
	http.StatusMisdirectedRequest:  "unknown_host",
	http.StatusUnprocessableEntity: "damaged",
	http.StatusServiceUnavailable:  "busy",
}

// classify returns the status of an error, and its kind.
func classify(err error) (status int, kind string) {
	var f *failure
	var bad errRequest
	switch {
	case errors.As(err, &f):
		return f.status, f.kind
	case errors.As(err, &bad):
		status = http.StatusBadRequest
	case errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	case errors.Is(err, sessionstore.ErrConflict), errors.Is(err, sessionstore.ErrFenced):
		status = http.StatusConflict
	case errors.Is(err, sessionstore.ErrCorrupt):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, errBusy), errors.Is(err, sessionstore.ErrLocked):
		status = http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError, "internal"
	}
	return status, kinds[status]
}

// failureText is the JSON of a failure.
type failureText struct {
	Error string `json:"error"`
	Kind  string `json:"kind"`
}

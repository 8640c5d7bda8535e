package sessionstore_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The public API, as programs use it: what no longer compiles here breaks them.
var (
	_ func(string, *sessionstore.Options) (*sessionstore.Store, error) = sessionstore.Open
	_ func(string) (string, error)                                     = sessionstore.DefaultDir
	_ func() string                                                    = sessionstore.NewID
	_ func(string, string, string) string                              = sessionstore.NewSubID
	_ func(string) bool                                                = sessionstore.IsTopLevel
	_ func(string) string                                              = sessionstore.ProjectSlug
	_ func([]byte) (sessionstore.Message, error)                       = sessionstore.ParseMessage
	_ func(any) (sessionstore.Message, error)                          = sessionstore.NewMessage
	_ func(string, string, time.Time) (sessionstore.Message, error)    = sessionstore.Text
	_ func([]byte) (sessionstore.Metadata, error)                      = sessionstore.ParseMetadata
	_ func(any) (sessionstore.Metadata, error)                         = sessionstore.NewMetadata
	_ func(string, *sessionstore.Options) (*projects.Projects, error)  = projects.Open

	_ storeAPI    = (*sessionstore.Store)(nil)
	_ watcherAPI  = (*sessionstore.Watcher)(nil)
	_ messageAPI  = (*sessionstore.Message)(nil)
	_ metadataAPI = (*sessionstore.Metadata)(nil)
	_ projectsAPI = (*projects.Projects)(nil)
	_ error       = (*sessionstore.CorruptError)(nil)
	_ error       = (*sessionstore.AmbiguousError)(nil)

	_ = []sessionstore.Durability{sessionstore.Durable, sessionstore.Relaxed}
	_ = []sessionstore.Op{sessionstore.Wrote, sessionstore.Removed, sessionstore.Rescan}
	_ = map[bool]error{
		errors.Is(sessionstore.ErrNotFound, fs.ErrNotExist): sessionstore.ErrConflict,
		errors.Is(sessionstore.ErrClosed, fs.ErrClosed):     sessionstore.ErrLocked,
	}
	_ = []error{sessionstore.ErrInvalidID, sessionstore.ErrFenced, sessionstore.ErrUnstorable, sessionstore.ErrCorrupt}
	_ = sessionstore.Options{Logger: nil, Durability: sessionstore.Durable, Now: time.Now, Workspace: "", Portable: false, OnChange: func(sessionstore.Change) {}}
	_ = sessionstore.Revision{Messages: 0, Bytes: int64(0), Sum: [16]byte{}}
	_ = sessionstore.Recovery{Path: "", From: "", Kept: "", Reason: error(nil)}
	_ = sessionstore.Session{ID: "", Messages: nil, Metadata: sessionstore.Metadata{}, Revision: sessionstore.Revision{}, Recovered: nil}
	_ = sessionstore.Naming{Name: "", Source: "", Description: "", OnlyIfMissing: false}
	_ = sessionstore.Owner{App: "", Extra: map[string]string{}}
	_ = sessionstore.Info{ID: "", Modified: time.Time{}}
	_ = sessionstore.ListOptions{All: true, Limit: 1}
	_ = sessionstore.Diagnostic{Code: "", Source: "", Line: 0}
	_ = projects.Query{Project: "", After: time.Time{}, Before: time.Time{}, Keyword: "", Match: func(context.Context, *sessionstore.Store, string) (bool, error) { return true, nil }, Limit: 1}
	_ = projects.Found{ID: "", Project: "", Dir: "", Created: time.Time{}, CreatedText: "", Bundle: "", Model: ""}
	_ = sessionstore.Change{ID: "", File: "", Op: sessionstore.Wrote}
)

type storeAPI interface {
	Dir() string
	Close() error
	Save(ctx context.Context, id string, transcript []sessionstore.Message, md sessionstore.Metadata) error
	Load(ctx context.Context, id string) (*sessionstore.Session, error)
	Exists(id string) bool
	List(ctx context.Context, opts *sessionstore.ListOptions) ([]sessionstore.Info, error)
	Find(ctx context.Context, prefix string, opts *sessionstore.ListOptions) (string, error)
	Metadata(ctx context.Context, id string) (sessionstore.Metadata, error)
	UpdateMetadata(ctx context.Context, id string, edit func(*sessionstore.Metadata) error) (sessionstore.Metadata, error)
	SaveConfig(ctx context.Context, id string, config sessionstore.Metadata) error
	Cleanup(ctx context.Context, days int) (int, error)
	Create(ctx context.Context, id string, md sessionstore.Metadata) error
	Append(ctx context.Context, id string, msgs ...sessionstore.Message) error
	AppendStored(ctx context.Context, id string, msgs ...sessionstore.Message) ([]int, error)
	Messages(ctx context.Context, id string) iter.Seq2[sessionstore.Message, error]
	Replace(ctx context.Context, id string, old sessionstore.Revision, transcript []sessionstore.Message) (sessionstore.Revision, error)
	Revision(ctx context.Context, id string) (sessionstore.Revision, error)
	LoadStrict(ctx context.Context, id string) (*sessionstore.Session, []sessionstore.Diagnostic, error)
	SetName(ctx context.Context, id string, n sessionstore.Naming) (sessionstore.Metadata, bool, error)
	Latest(ctx context.Context) (sessionstore.Summary, error)
	Acquire(ctx context.Context, id string, o sessionstore.Owner) (*sessionstore.Hold, error)
	Delete(ctx context.Context, id string) error
	Watch(ctx context.Context) (*sessionstore.Watcher, error)
}

type watcherAPI interface {
	Changes() iter.Seq[sessionstore.Change]
	Close() error
}

type messageAPI interface {
	Role() string
	Content() string
	Timestamp() (time.Time, bool)
	ToolCalls() []sessionstore.ToolCall
	ToolCallID() string
	Lookup(name string) ([]byte, bool)
	With(name string, v any) (sessionstore.Message, error)
	AppendTo(dst []byte) []byte
	MarshalJSON() ([]byte, error)
	UnmarshalJSON(b []byte) error
}

type metadataAPI interface {
	Lookup(name string) ([]byte, bool)
	Bundle() (string, bool)
	Text(name string) string
	Int(name string) (int, bool)
	Set(name string, v any) error
	Delete(name string)
	Keys() iter.Seq[string]
	AppendTo(dst []byte) []byte
	MarshalJSON() ([]byte, error)
	UnmarshalJSON(b []byte) error
}

type projectsAPI interface {
	Slugs(ctx context.Context) ([]string, error)
	Store(slug string) (*sessionstore.Store, error)
	Resolve(ctx context.Context, ref, slug string) (dir string, err error)
	Find(ctx context.Context, q projects.Query) ([]projects.Found, error)
	Close() error
}

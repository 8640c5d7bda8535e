package thread

import "context"

// Found is a session that an import found in a file of its tool.
type Found struct {
	File    *File
	Path    string // of the file, as it was found
	ID      string
	Foreign string // the tool's id of a sub-agent
	Parent  string // id of the session that began it or that it was forked from
	Agent   bool   // it is the work of a sub-agent
	Beside  bool   // it is in the file of another session
	Forks   int    // that the import makes of branches

	Mine func(at int32) bool // whether a record is of the session
}

// findsKey is the key of the function that an import hands its finds to.
type findsKey struct{}

// WithFinds returns a context with which an import calls take for each session that it finds
// in a file, the file's first one first, while the file is open. An error ends the import.
func WithFinds(ctx context.Context, take func(Found) error) context.Context {
	return context.WithValue(ctx, findsKey{}, take)
}

// FindsOf returns the function that a context has from [WithFinds], nil where it has none.
func FindsOf(ctx context.Context) func(Found) error {
	take, _ := ctx.Value(findsKey{}).(func(Found) error)
	return take
}

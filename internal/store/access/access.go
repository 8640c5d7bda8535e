// Package access lets internal/core call functions that package sessionstore does not
// export. It works like such accessors of the standard library: sessionstore registers
// functions here when the program starts, and core takes them.
//
// This is the one place of the module where a package registers something at its import.
// The alternative is to export functions that only this module may use, with types that
// no other module can name. Nothing but sessionstore calls [Register], and nothing but
// core calls [Registered].
//
// The fields of [Functions] have the type any because this package cannot name
// the types of sessionstore, which imports it. core asserts the type of each
// field in the declaration of a variable, so that a wrong type ends every
// program and every test of the module at its start, never a call.
package access

// Functions are the functions that sessionstore registers.
type Functions struct {
	Open         any // func(dir string, opts *sessionstore.Options, hooks *seam.Seam) (*sessionstore.Store, error)
	Summaries    any // func(ctx context.Context, slugs []string, open func(string) (*sessionstore.Store, bool, error), o *sessionstore.ListOptions, yield func(string, sessionstore.Summary, error) bool) error
	CheckID      any // func(id string) error
	ReadMetadata any // func(dir *sessiondir.Dir) (md sessionstore.Metadata, found bool, err error)
	Of           any // func(*sessionstore.Store) any: a value with the methods that core declares
	From         any // func(m sessionstore.Message, name string) []byte
	Blocks       any // func(m sessionstore.Message) []byte
	Row          any // func(m sessionstore.Message) []byte
	Wrap         any // func(op, id string, err error) error
	Spread       any // func(n int, worker func(next func() (int, bool)))
}

var functions Functions

// Register keeps the functions of sessionstore. It is called in the declaration of a
// package variable, which is why it returns a value.
func Register(f Functions) Functions {
	functions = f
	return f
}

// Registered returns the functions that sessionstore registered.
func Registered() Functions { return functions }

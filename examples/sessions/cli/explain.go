package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// explain returns the text of an error: the Python tools' where they have one
// for it.
func explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	corrupt := (*sessionstore.CorruptError)(nil)
	if errors.As(err, &corrupt) && corrupt.Line > 0 && corrupt.Malformed() {
		return fmt.Sprintf("Malformed JSON at line %d: %v", corrupt.Line, corrupt.Err)
	}
	own := (*sessionstore.Error)(nil)
	if errors.As(err, &own) && errors.Is(own.Err, sessionstore.ErrNotFound) {
		return own.Err.Error()
	}
	if errors.Is(err, hybrid.ErrUnauthorized) && !errors.Is(err, errNoRole) {
		return err.Error() + "; " + errNoRole.Error()
	}
	return err.Error()
}

// referenceError is an error in the Python tools' words.
type referenceError string

func (e referenceError) Error() string { return string(e) }

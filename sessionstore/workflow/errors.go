package workflow

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// textError is an error with exactly the text of the original contract.
type textError struct {
	text string
	is   error
}

func (e *textError) Error() string { return e.text }
func (e *textError) Unwrap() error { return e.is }

func notFound(id string) error {
	return &textError{"Session " + limits.ID(id) + " not found", sessionstore.ErrNotFound}
}

// ignoreDamage drops the report of a damaged log: the next lines are added behind it.
func ignoreDamage(err error) error {
	if errors.Is(err, sessionstore.ErrCorrupt) {
		return nil
	}
	return err
}

// wrapRead adds to err the part of the session that could not be read, or not completely.
func wrapRead(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s of session %q: %w", what, limits.ID(id), err)
}

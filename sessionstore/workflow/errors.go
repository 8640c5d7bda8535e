package workflow

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// textError is an error whose whole text is that of the original contract.
type textError struct {
	text string
	is   error
}

func (e *textError) Error() string { return e.text }
func (e *textError) Unwrap() error { return e.is }

func notFound(id string) error {
	return &textError{"Session " + limits.ID(id) + " not found", sessionstore.ErrNotFound}
}

// ignoreDamage drops the report of a damaged log: what follows adds to it.
func ignoreDamage(err error) error {
	if errors.Is(err, sessionstore.ErrCorrupt) {
		return nil
	}
	return err
}

// wrapRead tells what of which session could not be read, or not all of it.
func wrapRead(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s of session %q: %w", what, limits.ID(id), err)
}

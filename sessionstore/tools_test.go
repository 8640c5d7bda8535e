package sessionstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
)

// oldTool is an old Python tool, or what imitates one, on one session.
type oldTool interface {
	load() ([]string, error)
	save(rows []string, md map[string]int) error
	rewind(n int) error
	copyBackup(name string, limit int64)
}

// newTool is a newer Python tool, or what imitates one, on one session.
type newTool interface {
	load() ([]string, error)
	appendAndCount(ctx context.Context, rows []string) error
	saveLocked(ctx context.Context, rows []string) error
	appendPending() bool
	locked(ctx context.Context, do func() error) error
	append(rows []string, death string) error
}

// imitated returns tools that imitate Python.
func imitated(session string) (oldTool, newTool) { return oldPython(session), newPython(session) }

// appendAndCount appends rows and adds one to the member new of the metadata.
func (p newPython) appendAndCount(ctx context.Context, rows []string) error {
	return p.locked(ctx, func() error { return errors.Join(p.append(rows, ""), p.count("new")) })
}

func (p newPython) saveLocked(ctx context.Context, rows []string) error {
	return p.locked(ctx, func() error { return p.save(rows) })
}

// oldProcess is an old tool in Python. The imitation stands in for one that is
// killed, and for the repair tool.
type oldProcess struct {
	oldPython
	python *writertest.Python
}

func (p oldProcess) load() ([]string, error) {
	l, err := p.python.Load()
	return l.Rows, err
}

func (p oldProcess) save(rows []string, md map[string]int) error {
	if _, err := p.python.Save(writertest.Transcript, writertest.Content(rows)); err != nil {
		return err
	}
	content := ""
	for _, name := range sortedKeys(md) {
		content += fmt.Sprintf(", %q: %d", name, md[name])
	}
	_, err := p.python.Save(writertest.Metadata, "{"+content[2:]+"}")
	return err
}

// newProcess is a newer tool in Python. The imitation stands in for one that is
// killed.
type newProcess struct {
	newPython
	python *writertest.Python
}

func (p newProcess) load() ([]string, error) {
	l, err := p.python.Load()
	return l.Rows, err
}

func (p newProcess) appendAndCount(_ context.Context, rows []string) error {
	return p.python.Append("new", rows...)
}

func (p newProcess) saveLocked(_ context.Context, rows []string) error {
	return p.python.SaveRows(rows)
}

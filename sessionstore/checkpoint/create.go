package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// Setup is the input for a new session.
type Setup struct {
	Chapters int // 3 to 7; 0: not known
	Context  Context
}

// Create makes a session with the status initialized: in outputDir, which must exist, or,
// where nothing can be made there, in the temporary directory. An existing session in that
// place is kept, and the error Is [fs.ErrExist].
func (d *Dir) Create(ctx context.Context, outputDir string, setup Setup) (*Run, error) {
	s, err := d.create(ctx, outputDir, setup)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	return s, nil
}

func (d *Dir) create(ctx context.Context, outputDir string, setup Setup) (*Run, error) {
	output, err := sessiondir.Abs(outputDir)
	if err != nil {
		return nil, err
	}
	now := d.opts.Now().UTC()
	id := fmt.Sprintf("session-%s-%d", now.Format("20060102-150405"), rand.Uint32())
	dir, err := d.makeDir(output, primaryName)
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		dir, err = d.makeDir(d.opts.TempDir, fallbackPrefix+strings.TrimPrefix(id, "session-"))
	}
	if err != nil {
		return nil, err
	}
	raw, err := newState(id, output, dir, now, setup)
	if err != nil {
		return nil, err
	}
	return d.begin(ctx, dir, raw)
}

// newState returns the first state of a session.
func newState(id, output, dir string, now time.Time, setup Setup) ([]byte, error) {
	config := map[string]any{"output_directory": output, "session_directory": dir}
	if setup.Chapters != 0 {
		config["num_chapters"] = setup.Chapters
	}
	at := pytime.Stamp(now)
	return encodeObject(struct {
		Version   string         `json:"version"`
		ID        string         `json:"session_id"`
		Created   string         `json:"created_at"`
		Updated   string         `json:"last_updated"`
		Status    Status         `json:"status"`
		Phase     int            `json:"current_phase"`
		Completed []int          `json:"completed_phases"`
		Approvals struct{}       `json:"user_approvals"`
		Config    map[string]any `json:"config"`
		Outputs   struct{}       `json:"outputs"`
		Context   Context        `json:"user_context"`
		Errors    []int          `json:"errors"`
		Runs      []int          `json:"agent_execution_log"`
	}{
		Version: newest, ID: id, Created: at, Updated: at, Status: Initialized, Completed: []int{},
		Config: config, Context: setup.Context, Errors: []int{}, Runs: []int{},
	})
}

// begin writes the first state of the session in dir.
func (d *Dir) begin(ctx context.Context, dir string, raw []byte) (*Run, error) {
	f, err := d.openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lock, err := f.lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	for _, name := range []string{stateFile, backupFile} {
		if _, err := f.Root().Lstat(name); err == nil {
			return nil, &fs.PathError{Op: "write", Path: filepath.Join(dir, name), Err: fs.ErrExist}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := f.write(State{}, raw, d.sync())
	if err != nil {
		return nil, err
	}
	return &Run{parent: d, dir: dir, state: s}, nil
}

// makeDir makes the directory name in parent unless it is there. Its name is durable then:
// the process that made it may have been killed before it was.
func (d *Dir) makeDir(parent, name string) (path string, err error) {
	folder, err := d.openDir(parent)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	err = folder.Mkdir(name)
	if (err == nil || errors.Is(err, fs.ErrExist)) && d.sync() {
		err = folder.Sync()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return filepath.Join(parent, name), nil
}

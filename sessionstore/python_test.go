package sessionstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
)

const markerFile = transcriptFile + ".append-pending"

// errDied is what a Python tool returns that was killed where the test wanted.
var errDied = errors.New("killed")

// oldPython reads and writes a session, whose directory it is, as the
// reference's older version does: backups are copied in place, files replaced
// by renaming, nothing is locked or synced.
type oldPython string

// load returns the rows of the transcript.
func (p oldPython) load() ([]string, error) {
	for _, name := range []string{transcriptFile, transcriptBackup} {
		data, err := os.ReadFile(filepath.Join(string(p), name))
		if err != nil {
			continue
		}
		if !utf8.Valid(data) {
			return nil, errors.New("UnicodeDecodeError")
		}
		if rows, ok := pythonRows(data); ok {
			return rows, nil
		}
	}
	return nil, nil
}

// pythonRows splits a transcript, and reports whether each row is JSON.
func pythonRows(data []byte) ([]string, bool) {
	var rows []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !json.Valid([]byte(line)) {
			return nil, false
		}
		rows = append(rows, line)
	}
	return rows, true
}

// metadata returns the metadata, whose numbers are all that the tests use.
func (p oldPython) metadata() map[string]int {
	for _, name := range []string{metadataFile, metadataBackup} {
		md := map[string]int{}
		data, err := os.ReadFile(filepath.Join(string(p), name))
		if err == nil && json.Unmarshal(data, &md) == nil {
			return md
		}
	}
	return map[string]int{}
}

func (p oldPython) save(rows []string, md map[string]int) error {
	if err := p.replace(transcriptFile, fileOf(rows)); err != nil {
		return err
	}
	return p.saveMetadata(md)
}

func (p oldPython) saveMetadata(md map[string]int) error {
	content, err := json.MarshalIndent(md, "", "  ")
	if err != nil {
		return err
	}
	return p.replace(metadataFile, string(content))
}

func fileOf(rows []string) string {
	content := ""
	for _, row := range rows {
		content += row + "\n"
	}
	return content
}

// tempName returns the part of a temporary file's name that no other has.
func tempName() string { return fmt.Sprintf("%d_%d", os.Getpid(), temps.Add(1)) }

var temps atomic.Int64 // temporary files of this process

func (p oldPython) replace(name, content string) error {
	p.copyBackup(name, 1<<62)
	tmp := filepath.Join(string(p), "."+strings.TrimSuffix(name, filepath.Ext(name))+"_"+tempName()+".tmp")
	if err := os.WriteFile(tmp, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(string(p), name))
}

// copyBackup copies name, or its first bytes, onto its backup in place; what
// fails is swallowed.
func (p oldPython) copyBackup(name string, limit int64) {
	from, to := filepath.Join(string(p), name), filepath.Join(string(p), name+".backup")
	src, err := os.Open(from)
	if err != nil {
		return
	}
	defer src.Close()
	fi, err := src.Stat()
	if err != nil {
		return
	}
	if old, err := os.Stat(to); err == nil && os.SameFile(fi, old) {
		return
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return
	}
	_, err = io.CopyN(dst, src, min(limit, fi.Size()))
	if dst.Close() != nil || err != nil || limit < fi.Size() {
		return
	}
	_ = os.Chtimes(to, fi.ModTime(), fi.ModTime())
	_ = os.Chmod(to, fi.Mode())
}

// rewind cuts the transcript to n rows as the repair tool does: it keeps a
// copy, writes the file itself, and leaves backup and metadata alone.
func (p oldPython) rewind(n int) error {
	rows, err := p.load()
	if err != nil {
		return err
	}
	main := filepath.Join(string(p), transcriptFile)
	data, err := os.ReadFile(main)
	if err != nil {
		return err
	}
	kept := main + ".bak-pre-rewind-" + time.Now().UTC().Format("20060102150405")
	if err := os.WriteFile(kept, data, 0o600); err != nil {
		return err
	}
	return os.WriteFile(main, []byte(fileOf(rows[:n])), 0o600)
}

// newPython reads and writes a session, whose directory it is, as the newer
// version does: under the metadata lock, with a marker around appends in place.
type newPython string

// locked runs do under the lock.
func (p newPython) locked(ctx context.Context, do func() error) (err error) {
	root, err := os.OpenRoot(filepath.Dir(string(p)))
	if err != nil {
		return err
	}
	defer root.Close()
	lock, err := lock.Acquire(ctx, root, "."+filepath.Base(string(p))+".metadata.lock", lock.Options{Perm: 0o666})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return do()
}

func (p newPython) path(name string) string { return filepath.Join(string(p), name) }

func (p newPython) appendPending() bool {
	_, err := os.Lstat(p.path(markerFile))
	return err == nil
}

// load returns the rows of the transcript: while a marker is there, those of
// the backup.
func (p newPython) load() ([]string, error) {
	names := []string{transcriptFile, transcriptBackup}
	if p.appendPending() {
		names = names[1:]
	}
	missing := true
	for _, name := range names {
		data, err := os.ReadFile(p.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		missing = false
		if rows, ok := strictRows(data); ok && err == nil {
			return rows, nil
		}
	}
	if missing && len(names) == 2 {
		return nil, nil
	}
	return nil, errors.New("SessionHistoryError")
}

// strictRows is pythonRows for a reader that wants an object with a role.
func strictRows(data []byte) ([]string, bool) {
	rows, ok := pythonRows(data)
	for _, row := range rows {
		var object struct{ Role string }
		if json.Unmarshal([]byte(row), &object) != nil || object.Role == "" {
			return nil, false
		}
	}
	return rows, ok && utf8.Valid(data)
}

// append adds rows to the transcript in place. It is killed after the step
// that death names: "marked", "torn", "written"; "" lets it live.
func (p newPython) append(rows []string, death string) error {
	if p.appendPending() { // an incremental save declines
		have, err := p.load()
		if err != nil {
			return err
		}
		return p.save(append(have, rows...))
	}
	main, err := os.ReadFile(p.path(transcriptFile))
	if err != nil {
		return err
	}
	if len(main) > 0 && main[len(main)-1] != '\n' {
		return errors.New("unterminated transcript")
	}
	if err := p.catchUp(main); err != nil {
		return err
	}
	if err := os.WriteFile(p.path(markerFile), []byte("{\"version\":1}\n"), 0o600); err != nil {
		return err
	}
	if death == "marked" {
		return errDied
	}
	content := fileOf(rows)
	if death == "torn" {
		content = content[:len(content)/2]
	}
	f, err := os.OpenFile(p.path(transcriptFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if death != "" {
		return errDied
	}
	return os.Remove(p.path(markerFile))
}

// catchUp makes the backup the transcript main.
func (p newPython) catchUp(main []byte) error {
	path := p.path(transcriptBackup)
	backup, err := os.ReadFile(path)
	mainInfo, merr := os.Stat(p.path(transcriptFile))
	backupInfo, berr := os.Stat(path)
	if errors.Join(err, merr, berr) == nil && !os.SameFile(mainInfo, backupInfo) && bytes.HasPrefix(main, backup) && bytes.HasSuffix(backup, []byte("\n")) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(main[len(backup):])
		return errors.Join(err, f.Close())
	}
	tmp := p.path(".transcript-backup-" + tempName())
	if err := os.WriteFile(tmp, main, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// save writes rows as the whole transcript. A damaged transcript does not
// become the backup, and a marker goes when the file is whole.
func (p newPython) save(rows []string) error {
	if !p.appendPending() {
		if main, err := os.ReadFile(p.path(transcriptFile)); err == nil {
			if _, ok := strictRows(main); ok {
				return oldPython(p).replace(transcriptFile, fileOf(rows))
			}
		}
	}
	if backup, err := os.ReadFile(p.path(transcriptBackup)); err != nil {
		return err
	} else if _, ok := strictRows(backup); !ok {
		return errors.New("SessionHistoryError")
	}
	tmp := p.path(".transcript_" + tempName() + ".tmp")
	if err := os.WriteFile(tmp, []byte(fileOf(rows)), 0o600); err != nil {
		return err
	}
	if err := os.Rename(tmp, p.path(transcriptFile)); err != nil {
		return err
	}
	if err := os.Remove(p.path(markerFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// count adds one to the member name of the metadata.
func (p newPython) count(name string) error {
	md := oldPython(p).metadata()
	md[name]++
	return oldPython(p).saveMetadata(md)
}

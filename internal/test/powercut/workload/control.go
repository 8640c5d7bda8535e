package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
)

// control writes whole files under the name of a transcript: with sync as one
// should, with the directory, else by a rename alone.
func (b *Notebook) control(ctx context.Context, root string, s history.Subject, sync bool, n int) error {
	dir := filepath.Join(root, s.Dir, s.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := syncUp(dir, root); err != nil {
		return err
	}
	var content bytes.Buffer
	for i := range n {
		content.Write(b.message("user", fmt.Sprintf("c-%d", i)).AppendTo(nil))
		content.WriteByte('\n')
		b.call(ctx, s, "control", func() error { return put(dir, content.Bytes(), sync) })
	}
	return nil
}

// put gives the transcript in dir new content.
func put(dir string, content []byte, sync bool) error {
	name := filepath.Join(dir, "new")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if sync && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name, filepath.Join(dir, "transcript.jsonl"))
	}
	if sync && err == nil {
		err = syncDir(dir)
	}
	return err
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncUp syncs dir and the directories above it up to root.
func syncUp(dir, root string) error {
	for ; ; dir = filepath.Dir(dir) {
		if err := syncDir(dir); err != nil || dir == root {
			return err
		}
	}
}

// neighbours writes and syncs other files of the file system until ctx ends, as other
// programs do: data that the store left unsynced is then partly on the disk.
func (b *Notebook) neighbours(ctx context.Context, root string) error {
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(2+b.n(40)) * time.Millisecond):
		}
		name := filepath.Join(root, fmt.Sprintf("neighbour%d", i%5))
		if b.n(6) == 0 {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
			continue
		}
		if err := b.neighbour(name); err != nil {
			return err
		}
	}
}

// neighbour writes somewhere into a file and syncs it.
func (b *Notebook) neighbour(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, 1+b.n(30000)), int64(b.n(100000)))
	return errors.Join(err, f.Sync(), f.Close())
}

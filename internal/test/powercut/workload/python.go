package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// turns saves sessions in turn with Relaxed and as the Python store does, while a neighbour
// syncs now and then: the losses of both by a power cut can be compared.
func (b *Notebook) turns(ctx context.Context, root, dir string, n int) error {
	relaxed, err := b.client(root, dir+"/relaxed", "turns-relaxed")
	if err != nil {
		return err
	}
	sessions := map[string][]sessionstore.Message{}
	for i := range n {
		for _, id := range []string{"grow-1", "grow-2", "rewrite"} {
			if id == "rewrite" && i%2 == 1 {
				sessions[id] = nil
			}
			msgs := append(sessions[id], b.message("user", fmt.Sprintf("%s-%d", id, i)))
			sessions[id] = msgs
			python := history.Subject{Mode: "turns-python", Dir: dir + "/python", ID: id, View: history.Session}
			b.call(ctx, python, "save", func() error { return pythonSave(filepath.Join(root, python.Dir, id), msgs, metadata(i)) })
			relaxed.session(ctx, id, "save", func() error { return relaxed.st.Save(ctx, id, msgs, metadata(i)) })
			time.Sleep(time.Duration(b.n(20)) * time.Millisecond)
			if b.n(3) > 0 {
				continue
			}
			if err := b.neighbour(filepath.Join(root, "neighbour")); err != nil {
				return err
			}
		}
	}
	return relaxed.st.Close()
}

// pythonSave saves a session as the Python store does: for each file it copies
// the file over its backup, in place, and renames a new file over it.
func pythonSave(dir string, msgs []sessionstore.Message, md sessionstore.Metadata) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var content bytes.Buffer
	for _, m := range msgs {
		content.Write(m.AppendTo(nil))
		content.WriteByte('\n')
	}
	if err := pythonPut(filepath.Join(dir, "transcript.jsonl"), content.Bytes()); err != nil {
		return err
	}
	return pythonPut(filepath.Join(dir, "metadata.json"), md.AppendTo(nil))
}

func pythonPut(name string, content []byte) error {
	if err := pythonBackup(name); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new_*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// pythonBackup copies a file over its backup, in place, with its time.
func pythonBackup(name string) error {
	src, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close() // only read
	fi, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(name+".backup", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, struct{ io.Reader }{src})
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Chtimes(name+".backup", fi.ModTime(), fi.ModTime())
}

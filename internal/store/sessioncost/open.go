package sessioncost

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/capture"
)

// IsFile reports whether path is a regular file.
func IsFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// LocateHere is [Locate] in the environment of the process.
func LocateHere(dir string) Files {
	return Locate(dir, os.Getenv(Variable), homeHere(), IsFile)
}

// DescriptionsHere is [Descriptions] in the environment of the process.
func DescriptionsHere(dir string) []string {
	return Descriptions(dir, os.Getenv(Variable), homeHere())
}

// homeHere returns the home directory, "" where it is not known: a base path that
// begins with "~" does not count then.
func homeHere() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// Open reads the log of events in the file path of the session owner. It returns nil if
// there is no such file. A file that cannot be read, or that changes during the read, is
// no error, but one of the findings. The error is the context's.
func Open(ctx context.Context, path, owner string) (*Events, error) {
	before, err := os.Stat(path)
	if err != nil || !before.Mode().IsRegular() {
		return nil, nil
	}
	all, err := openEvents(ctx, path, owner)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &Events{codes: []capture.Code{unreadable}}, nil
	}
	after, err := os.Stat(path)
	all.unstable = err != nil || !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())
	return all, nil
}

// unreadable is the code for a file that cannot be read.
const unreadable capture.Code = "unreadable_file"

func openEvents(ctx context.Context, path, owner string) (all *Events, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	dir := vfs.New(root, nil)
	f, err := dir.OpenRead(filepath.Base(path))
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	all, err = ReadEvents(ctx, f, owner)
	return all, errors.Join(err, f.Close())
}

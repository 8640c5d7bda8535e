package foreign

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// openRegular opens a file for reading. It waits for nobody: what is no regular file,
// such as a named pipe, is an error.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, nil, err
	}
	f, fi, err := vfs.Open(root, filepath.Base(real), os.O_RDONLY)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		failed.Path = path
	}
	return f, fi, errors.Join(err, root.Close())
}

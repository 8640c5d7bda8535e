//go:build !windows && !darwin

package hybrid

import (
	"errors"
	"io/fs"
	"os"
)

// systemID returns the system's own id of this machine; "" where there is none, as in
// most containers.
func systemID() (string, error) {
	text, err := os.ReadFile("/etc/machine-id")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return string(text), err
}

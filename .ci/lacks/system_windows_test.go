package lacks

import (
	"errors"
	"os"
	"syscall"
)

// created returns when the file was made.
func created(path string) (int64, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	data, ok := fi.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return 0, errors.New("no time of creation")
	}
	return data.CreationTime.Nanoseconds(), nil
}

func openBeneath(string) error { return nil } // a call of Linux

func filterCalls(string) error { return nil } // a call of Linux

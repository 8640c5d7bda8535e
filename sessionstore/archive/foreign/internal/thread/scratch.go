package thread

import "os"

// Scratch returns a private file that leave removes.
func Scratch() (f *os.File, leave func(), err error) {
	if f, err = os.CreateTemp("", "sessions-"); err != nil {
		return nil, nil, err
	}
	_ = os.Remove(f.Name()) // so a kill leaves no copy of the conversation
	return f, func() {
		_ = f.Close()
		_ = os.Remove(f.Name()) // where an open file stays, as on Windows
	}, nil
}

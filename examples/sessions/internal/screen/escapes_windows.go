package screen

import (
	"os"
	"runtime"

	"golang.org/x/sys/windows"
)

// obeysEscapes turns escape sequences on and reports whether the terminal obeys them.
func obeysEscapes(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	var mode uint32
	defer runtime.KeepAlive(f)
	if err := windows.GetConsoleMode(windows.Handle(f.Fd()), &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(windows.Handle(f.Fd()), mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

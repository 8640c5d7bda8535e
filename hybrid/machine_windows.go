package hybrid

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows/registry"
)

// systemID returns the system's own id of this machine; "" where there is none.
func systemID() (id string, err error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err == nil {
		id, _, err = key.GetStringValue("MachineGuid")
		err = errors.Join(err, key.Close())
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return id, err
}

// Package lacks shows the lacks of the emulators on which CI runs tests of other systems:
// Wine for Windows, QEMU for other processors.
//
// Each lack is a test that is a few lines of plain Go, without this module's code. It
// passes where the system does as programs may expect. With the environment variable
// EMULATOR, which names the emulator, it is the other way round for the lacks of that
// emulator: the test fails when the lack is gone.
//
// The files .ci/systems/*.skip name the tests of other packages that an emulator
// cannot pass, each with its lack.
package lacks

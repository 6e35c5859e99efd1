// What a process of the program tells by its exit code and is told by its environment, for manual pages. The
// page docs/architecture.md has the same exit codes; a test compares them, and looks for variables in the
// sources.
#pragma once

#include <array>
#include <string_view>

namespace contorno {

struct ProcessFact {
  std::string_view name, sentence;
};

inline constexpr std::array kExitCodes{
    ProcessFact{"0", "all went well"},
    ProcessFact{"1, 4, 5", "contorno latency: worse than before, not held, too few frames"},
    ProcessFact{"2",
                "wrong command line: a word, a number or options together that are never right, or without "
                "effect"},
    ProcessFact{"3", "finished, but frames failed, or the source had fewer than it should"},
    ProcessFact{"64, 65, 66",
                "a value that this graph, stage or input does not allow, bad input data, missing input"},
    ProcessFact{
        "69",
        "a device that was asked for by name, a module or encoder that a graph needs, or an extension, "
        "is not there"},
    ProcessFact{"70, 71", "internal error or broken device, out of memory"},
    ProcessFact{"73, 74", "cannot create an output, input/output error"},
    ProcessFact{"78", "bad configuration"},
    ProcessFact{"129, 130, 143", "ended by SIGHUP, Ctrl-C or SIGTERM, after a clean end"}};

inline constexpr std::array kEnvironment{
    ProcessFact{"CONTORNO_BACKEND", "auto, cpu or cuda, in place of --backend and of the graph's backend."},
    ProcessFact{"CONTORNO_DEV", "Folder in which cameras are looked for, in place of /dev."},
    ProcessFact{"CONTORNO_MODULES",
                "Absolute path of the folder with the modules, in place of the folder contorno beside the "
                "library."},
    ProcessFact{"NO_COLOR", "When it is not empty, help has no colours."},
    ProcessFact{"OMP_NUM_THREADS", "Threads of the CPU backend where neither graph nor command line says."},
    ProcessFact{"SOURCE_DATE_EPOCH",
                "The date of manual pages in seconds since 1970, in place of that of the program's commit."}};

}  // namespace contorno

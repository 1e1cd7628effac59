// The kernels the stand-in driver can launch.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

struct Kernel {
    std::string name;
    std::vector<size_t> parameter_bytes;
    std::vector<bool> writes; // whether each parameter points to memory that is not const
    std::function<std::function<void()>(void **arguments)> bind;
};

const std::vector<Kernel> &kernels();

// The directions in which points lie apart the most: how many numbers a point has, two or three of them may show how
// the points lie to each other. The eigenvectors of the covariance, by Jacobi's rotations (Golub and Van Loan, Matrix
// Computations, section 8.5).
#pragma once

#include <cstddef>
#include <vector>

namespace orrery {

struct PrincipalComponents {
  std::vector<std::vector<double>> directions;   // [count][d], of length 1, each at a right angle to the others
  std::vector<double> shares;                    // [count] of the variance, in falling order
  std::vector<std::vector<double>> coordinates;  // [points][count]: of each point, less the mean, in these directions
};

// `points` [points][d], `count` from 1 to d. In each direction the number that is largest in size is positive. Throws
// Error where there is no point, where points differ in their length, and for any other count.
PrincipalComponents principal_components(const std::vector<std::vector<double>>& points, size_t count);

}  // namespace orrery
